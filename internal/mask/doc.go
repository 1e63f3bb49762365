// Package mask takes secrets out of what is printed.
//
// Promise: wherever a secret stands byte by byte, however the text was cut into pieces, none of its
// bytes come out; "[secret:<name>]" does in their place. Where secrets overlap, all that they cover goes, and
// each is named once. What is not exactly the secret (encoded, with other line ends, in two streams) stays:
// masking is a net for accidents, no wall against a command that wants to tell.
//
// A stream holds back no more than a beginning of a secret that its last bytes may be: at most 4095
// bytes, until more comes or Flush is called. Time and memory are linear in the text for each secret.
// Nothing here starts a goroutine. A Masker never changes and may be shared; a Stream is one goroutine's.
package mask
