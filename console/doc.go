// Package console is the web page of the service: a person consents and speaks, a
// clinician sees what came of it and how far to trust it, an operator sees that the
// service works.
//
//	page, err := console.New(engine, keys, nil)
//	…
//	mux.Handle("/console/", page)
//
// New returns a plain http.Handler that can be mounted under any prefix
// ([Options].Prefix). Pages, words, styles and scripts are embedded in the program.
//
// # Structure
//
// The pages are made on the server from html/template and work without script. A
// script adds recording in the page.
//
//	console.go     Options, New: the way of a request
//	routes.go      every path, with the scope that it needs and its action in the audit log
//	visit.go       one request: who asks, in which language; forms; answers; audit
//	header.go      the header fields of security
//	signin.go      the exchange of an API key for a cookie; browser.go: who is signed in
//	words.go       texts by language: words/en.json, words/de.json
//	phrases.go     translations of what package report says: phrases/de.json
//	render.go      templates: pages/layout.html and one file for each page
//	static.go      static/: console.css, and the modules of the scripts: record.js is the
//	               page, microphone.js, speech.js and wav.js its parts, capture.js runs in
//	               the audio thread; return.js is on every page
//
// Each page has one Go file with its handlers: home.go, consent.go, record.go, label.go,
// result.go, history.go, agreement.go, operations.go, erase.go. A page adds scripts with
// a template "scripts" of its file; they are modules in static/, and need no change in Go.
//
// # Sign-in
//
// An API key is exchanged for a random cookie (HttpOnly, SameSite=Strict, Secure unless
// the host is loopback). The process keeps the key in memory and checks it at each
// request, so that a revoked key ends its sign-ins. A sign-in ends after 15 minutes
// without a request, 12 hours after its begin, with sign-out, and with the process.
// Servers behind one balancer do not share sign-ins: it must keep a browser at one of
// them. The scopes of the key decide what is shown. With Options.SignIn the host program
// authenticates instead.
//
// # Privacy
//
// Addresses hold session identifiers, which are random, and neither user identifiers nor
// scores: a person is found by a form, and their history is that of one of their sessions.
// Titles and log lines hold no data of a patient. No answer but the static files may be
// stored by a browser.
package console
