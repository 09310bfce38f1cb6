// Package ssl scores whether a voice is synthetic with networks of wav2vec 2.0 and
// HuBERT that others trained: AntiDeepfake (Ge et al. 2025, arXiv 2506.21090), and
// Wav2Vec2ForSequenceClassification and HubertForSequenceClassification as Hugging Face
// publishes them. SSL.md says which, under which licences, and how often they are wrong.
//
// # Files
//
// [Open] reads a checkpoint of PyTorch, a directory of Hugging Face (config.json and
// model.safetensors) or what [Model.Write] made of one of them. A converted model holds the
// weights as the products of matrices need them. It is mapped into memory: it opens
// within a second, and processes that use one file share its memory. Nothing in a file
// is executed.
//
// The sizes of the network follow from the tensors, and in a directory from config.json,
// against which the tensors are checked. Which outputs mean a synthetic voice follows
// from the names of the classes, if they are among words that say so, or is stated by
// the caller ([Options.Synthetic]). It is never guessed.
//
// # Score
//
// The recording is resampled to 16 kHz and divided into windows of equal length, from
// 10 to 13 s, which overlap by 2 s or more; a recording of up to 13 s is one window. The
// network runs on each window with at least 2 s of speech as if it were a clip of its
// own. The score of a window is the logit of the probability that the network gives to
// the synthetic classes, and that of the recording their mean. A calibration by Platt's
// method, if the file has one, makes a probability of it. Without it [models.Info] says
// that the model is not calibrated.
//
// # Arithmetic
//
// All numbers are float32, as in the published models, unless [Options.Int8] is set, or was
// when the file was written: then the factors of most products are integers of eight bits.
// Both times the result of a window depends neither on the number of goroutines nor on
// other windows.
package ssl
