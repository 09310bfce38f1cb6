// Package prior makes the depression and anxiety models that are shipped, from
// published effects ([Depression], [Anxiety]) and from norms of the features that
// were measured on recordings of speech ([Norms]). It writes the files of the
// models and the tables of evidence in their cards ([Write]).
package prior
