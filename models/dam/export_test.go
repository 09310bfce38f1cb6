package dam

// OpenShape and ConvertShape are Open and Convert for a network of another shape, so that
// the way from a checkpoint to scores can be tested without the published 0.74 GB.
var (
	OpenShape    = openShape
	ConvertShape = convertShape
)
