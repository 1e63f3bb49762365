// Package redact replaces secrets in output.
//
// Promise: wherever a secret occurs byte for byte, however the text was split into pieces, none of
// its bytes are printed but "[secret:<name>]" instead. Overlapping secrets are replaced together,
// and each is named once. Text that is not exactly the secret (encoded, with other line ends, split
// over two streams) is not replaced: masking prevents accidents; it does not stop a command that
// wants to disclose a secret.
//
// A stream holds back no more than the bytes that may be the beginning of a secret: at most 4095,
// until more text arrives or Flush is called. Time and memory are linear in the text for each
// secret. The package starts no goroutine. A Masker is immutable and may be shared; a Stream
// belongs to one goroutine.
package redact
