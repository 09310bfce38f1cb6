// Package fit makes model files: the priors of the depression and anxiety
// scorers from published effects ([Prior]), what they become given labels
// ([Learn]), and models fitted to manifests of labelled recordings ([Train]).
// [Simulate] shows in made-up populations what labels give.
//
// It reads no audio: whoever calls it decodes the recordings. Everything is
// deterministic, from a seed where chance is needed.
package fit
