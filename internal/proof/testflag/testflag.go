// Package testflag gives flags of "go test" another default in some packages. TestMain
// calls its functions before it runs the tests.
package testflag

import "flag"

// Parallel lets n tests that call t.Parallel run at once, if the command line does not say
// how many. It is for packages whose tests wait for disks, servers and time-outs more than
// they compute: by default as many run as there are processors.
func Parallel(n string) error { return setDefault("test.parallel", n) }

// Histories makes n the number of random histories of each test with package rapid, if the
// command line does not say how many. It is for packages in which one history takes long:
// by default there are 100.
func Histories(n string) error { return setDefault("rapid.checks", n) }

func setDefault(name, value string) error {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == name })
	if asked {
		return nil
	}
	return flag.Set(name, value)
}
