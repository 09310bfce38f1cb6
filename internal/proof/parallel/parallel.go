// Package parallel says how many parallel tests of a package run at once.
package parallel

import "flag"

// Tests lets n tests that call t.Parallel run at once, if the command line does not say
// how many. It is for packages whose tests wait for disks, servers and time-outs more than
// they compute: by default as many run as there are processors. TestMain calls it before
// it runs the tests.
func Tests(n string) error {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == name })
	if asked {
		return nil
	}
	return flag.Set(name, n)
}

const name = "test.parallel"
