package httpadapter

import "testing"

func TestPreferredWait(t *testing.T) {
	for name, c := range map[string]struct {
		headers []string
		seconds int
		ok      bool
	}{
		"none":             {nil, 0, false},
		"plain":            {[]string{"wait=10"}, 10, true},
		"quoted":           {[]string{`WAIT = "7"`}, 7, true},
		"among others":     {[]string{"respond-async, wait=5; x=y", "handling=lenient"}, 5, true},
		"in a later one":   {[]string{"respond-async", "wait=5"}, 5, true},
		"the first counts": {[]string{"wait=1, wait=2"}, 1, true},
		"zero":             {[]string{"wait=0"}, 0, true},
		"for ever":         {[]string{"wait=99999999999999999999"}, 1<<31 - 1, true},
		"no number":        {[]string{"wait=soon"}, 0, false},
		"negative":         {[]string{"wait=-1"}, 0, false},
		"no value":         {[]string{"wait"}, 0, false},
		"another name":     {[]string{"waiting=3"}, 0, false},
	} {
		if seconds, ok := preferredWait(c.headers); seconds != c.seconds || ok != c.ok {
			t.Errorf("%s: got %d %v, want %d %v", name, seconds, ok, c.seconds, c.ok)
		}
	}
}

// An answer is held until the result is there, and no longer than asked for
// and allowed. Time is that of the bubble.
