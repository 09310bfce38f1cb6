package wav

// The samples of ITU-T G.711 as 16-bit integers: 13 bits of A-law and 14 of µ-law, at the
// upper end.
var (
	aLawTable  = table(aLaw)
	muLawTable = table(muLaw)
)

func table(f func(byte) int16) (t [256]int16) {
	for i := range t {
		t[i] = f(byte(i))
	}
	return t
}

// aLaw decodes a sample (G.711 table 1): sign, 3 bits of the segment and 4 of the step
// within it, with every second bit inverted. The value is that of the middle of the step.
func aLaw(b byte) int16 {
	b ^= 0x55
	segment, step := b>>4&7, int16(b&15)
	v := step<<4 + 8
	if segment > 0 {
		v = (v + 0x100) << (segment - 1)
	}
	if b&0x80 == 0 {
		return -v
	}
	return v
}

// muLaw decodes a sample (G.711 table 2): all bits are inverted, and the segments begin 33
// steps of 14 bits beside 0.
func muLaw(b byte) int16 {
	b = ^b
	v := (int16(b&15)<<3+0x84)<<(b>>4&7) - 0x84
	if b&0x80 != 0 {
		return -v
	}
	return v
}
