package httpadapter_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/voicescreen/voicescreen/screen"
)

const (
	formType = "application/x-www-form-urlencoded"
	jsonType = "application/json"
)

func TestInitiateOpensSession(t *testing.T) {
	multi := form("POST", "/v2/initiate", field{"user_id", "p1"}, field{"is_initiated", "true"}, field{"metadata.age", "30"})
	bracketed := form("POST", "/v2/initiate", field{"user_id", "p1"}, field{"is_initiated", "true"}, field{"metadata[age]", "30"})
	bracketed.beyond = true
	for name, r := range map[string]request{
		"form":                        {contentType: formType, body: "user_id=p1&is_initiated=true&metadata.age=30"},
		"form, line end":              {beyond: true, contentType: formType, body: "user_id=p1&is_initiated=true&metadata.age=30\r\n"},
		"form without type":           {beyond: true, body: "user_id=p1&is_initiated=TRUE&metadata.age=30"},
		"form called JSON":            {beyond: true, contentType: jsonType, body: "user_id=p1&is_initiated=true&metadata.age=30"},
		"hyphen":                      {beyond: true, contentType: formType, body: "user_id=p1&is-initiated=true&metadata.age=30"},
		"both spellings":              {beyond: true, contentType: formType, body: "user_id=p1&is-initiated=true&is_initiated=true&metadata.age=30"},
		"repeated, the same":          {beyond: true, contentType: formType, body: "user_id=p1&user_id=p1&is_initiated=true&metadata.age=30"},
		"brackets":                    {beyond: true, contentType: formType, body: "user_id=p1&is_initiated=true&metadata[age]=30"},
		"brackets, escaped":           {beyond: true, contentType: formType, body: "user_id=p1&is_initiated=true&metadata%5Bage%5D=30&other[a]=b"},
		"brackets and dotted":         {beyond: true, contentType: formType, body: "user_id=p1&is_initiated=true&metadata[age]=30&metadata.age=30"},
		"brackets, multipart":         bracketed,
		"metadata as JSON in a form":  {beyond: true, contentType: formType, body: `user_id=p1&is_initiated=true&metadata=%7B%22age%22%3A30%7D`},
		"JSON":                        {contentType: jsonType, body: `{"user_id":"p1","is_initiated":true,"metadata.age":30}`},
		"JSON, nested":                {contentType: jsonType, body: `{"user_id":"p1","is_initiated":true,"metadata":{"age":30}}`},
		"JSON, nested and dotted":     {contentType: jsonType, body: `{"user_id":"p1","is_initiated":true,"metadata.age":30,"metadata":{"age":30}}`},
		"JSON without type":           {body: `{"user_id":"p1","is_initiated":true,"metadata":{"age":30}}`},
		"JSON called a form":          {beyond: true, contentType: formType, body: ` {"user_id":"p1","is-initiated":true,"metadata":{"age":30}}`},
		"JSON called multipart":       {contentType: "multipart/form-data; boundary=x", body: `{"user_id":"p1","is_initiated":true,"metadata":{"age":30}}`},
		"JSON with a byte order mark": {beyond: true, contentType: jsonType, body: "\xef\xbb\xbf" + `{"user_id":"p1","is_initiated":true,"metadata":{"age":30}}`},
		"JSON, text values":           {beyond: true, contentType: jsonType, body: `{"user_id":"p1","is_initiated":"True","metadata":{"age":"30"}}`},
		"JSON, null metadata":         {beyond: true, contentType: jsonType, body: `{"user_id":"p1","is_initiated":true,"metadata":{"age":30,"race":null},"metadata.weight":null}`},
		"JSON, charset":               {contentType: "application/json; charset=utf-8", body: `{"user_id":"p1","is_initiated":true,"metadata":{"age":30.0}}`},
		"unknown names":               {contentType: jsonType, body: `{"user_id":"p1","is_initiated":true,"metadata":{"age":30},"more":[1]}`},
		"multipart":                   multi,
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			r.method, r.path = "POST", "/v2/initate"
			body := s.want(http.StatusCreated, r)
			if len(body) != 1 || body["session_id"] != "session-1" {
				t.Errorf("got %v, want the session_id alone", body)
			}
			got, err := s.store.Get(context.Background(), "clinic", "session-1")
			if err != nil {
				t.Fatal(err)
			}
			if got.UserID != "p1" || got.Metadata != (screen.Metadata{Age: 30}) {
				t.Errorf("got user %q metadata %+v, want p1 of age 30", got.UserID, got.Metadata)
			}
		})
	}
}

func TestInitiateMetadata(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		body string // the metadata as JSON
		want screen.Metadata
	}{
		"all": {`{"age":41,"gender":"Transgender Female","race":"White","ethnicity":"Hispanic, Latino, or Spanish Origin","zipcode":"02139","language":true,"weight":150}`,
			screen.Metadata{Age: 41, Gender: screen.TransgenderFemale, Race: screen.White, Ethnicity: screen.Hispanic, Zipcode: "02139", English: &yes, Weight: 150}},
		"any case": {`{"gender":"fEMALE","race":"TWO OR MORE RACES","ethnicity":"not hispanic, latino, or spanish origin","language":"FALSE"}`,
			screen.Metadata{Gender: screen.Female, Race: screen.TwoOrMoreRaces, Ethnicity: screen.NotHispanic, English: &no}},
		"aliases": {`{"gender":"non-binary","race":"black or african-american"}`,
			screen.Metadata{Gender: screen.OtherGender, Race: screen.Black}},
		"other race": {`{"race":"other"}`, screen.Metadata{Race: screen.OtherRace}},
		"none":       {`{}`, screen.Metadata{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			s.want(http.StatusCreated, request{method: "POST", path: "/v1/initiate",
				body: `{"user_id":"p1","is_initiated":"true","metadata":` + c.body + `}`})
			got, err := s.store.Get(context.Background(), "clinic", "session-1")
			if err != nil {
				t.Fatal(err)
			}
			a, errA := json.Marshal(got.Metadata)
			b, errB := json.Marshal(c.want)
			if errA != nil || errB != nil || string(a) != string(b) {
				t.Errorf("got %s, want %s", a, b)
			}
		})
	}
}

// A character that JSON writes in two halves, and a backslash before a u.
func TestEscapesOfJSON(t *testing.T) {
	s := newService(t)
	s.want(http.StatusCreated, request{method: "POST", path: "/v2/initiate", body: `{"user_id":"\ud83d\ude42\\ud800\u00e9","is_initiated":true}`})
	if got, err := s.store.Get(t.Context(), "clinic", "session-1"); err != nil || got.UserID != `🙂\ud800é` {
		t.Errorf("got user %q, %v", got.UserID, err)
	}
}

// A semicolon does not part the fields of a form: it is a character.
func TestSemicolonInAForm(t *testing.T) {
	s := newService(t)
	s.want(http.StatusCreated, request{method: "POST", path: "/v2/initiate", beyond: true, contentType: formType, body: "user_id=a;b&is_initiated=true"})
	if got, err := s.store.Get(t.Context(), "clinic", "session-1"); err != nil || got.UserID != "a;b" {
		t.Errorf("got user %q, %v, want a;b", got.UserID, err)
	}
}

func TestInitiateRefuses(t *testing.T) {
	const u, m = "unprovided", "malformed"
	type problems = map[string]string
	ok := "user_id=p1&is_initiated=true"
	for name, c := range map[string]struct {
		body string
		want problems
	}{
		"empty":                {"", problems{"user_id": u, "is_initiated": u}},
		"empty object":         {"{}", problems{"user_id": u, "is_initiated": u}},
		"no user":              {"is_initiated=true", problems{"user_id": u}},
		"empty user":           {"user_id=&is_initiated=true", problems{"user_id": u}},
		"age of a birthday":    {ok + "&metadata.age=2147483648", problems{"metadata.age": m}},
		"half of a character":  {`{"user_id":"P\ud800","is_initiated":true}`, problems{"body": m, "user_id": u, "is_initiated": u}},
		"halves, twice":        {`{"user_id":"P\udc01\ud800","is_initiated":true}`, problems{"body": m, "user_id": u, "is_initiated": u}},
		"blank user":           {"user_id=+&is_initiated=true", problems{"user_id": u}},
		"null user":            {`{"user_id":null,"is_initiated":true}`, problems{"user_id": u}},
		"user is a number":     {`{"user_id":7,"is_initiated":true}`, problems{"user_id": m}},
		"user is a list":       {`{"user_id":["a"],"is_initiated":true}`, problems{"user_id": m}},
		"two users":            {ok + "&user_id=p2", problems{"user_id": m}},
		"user not UTF-8":       {"user_id=%ff&is_initiated=true", problems{"user_id": m}},
		"user with line break": {"user_id=a%0Ab&is_initiated=true", problems{"user_id": m}},
		"user too long":        {"user_id=" + strings.Repeat("a", 2000) + "&is_initiated=true", problems{"user_id": m}},
		"no consent field":     {"user_id=p1", problems{"is_initiated": u}},
		"empty consent":        {"user_id=p1&is_initiated=", problems{"is_initiated": u}},
		"null consent":         {`{"user_id":"p1","is_initiated":null}`, problems{"is_initiated": u}},
		"consent yes":          {"user_id=p1&is_initiated=yes", problems{"is_initiated": m}},
		"consent 1":            {`{"user_id":"p1","is_initiated":1}`, problems{"is_initiated": m}},
		"consent list":         {`{"user_id":"p1","is_initiated":[true]}`, problems{"is_initiated": m}},
		"contradiction":        {"user_id=p1&is_initiated=true&is-initiated=false", problems{"is_initiated": m}},
		"JSON contradiction":   {`{"user_id":"p1","is_initiated":false,"is_initiated":true}`, problems{"is_initiated": m}},
		"JSON without colon":   {`{"user_id" "p1"}`, problems{"body": m, "user_id": u, "is_initiated": u}},
		"JSON with a number":   {`{1:2}`, problems{"body": m, "user_id": u, "is_initiated": u}},
		"age 0":                {ok + "&metadata.age=0", problems{"metadata.age": m}},
		"age negative":         {ok + "&metadata.age=-5", problems{"metadata.age": m}},
		"age text":             {ok + "&metadata.age=old", problems{"metadata.age": m}},
		"age empty":            {ok + "&metadata.age=", problems{"metadata.age": m}},
		"age fraction":         {`{"user_id":"p1","is_initiated":true,"metadata.age":30.5}`, problems{"metadata.age": m}},
		"age boolean":          {`{"user_id":"p1","is_initiated":true,"metadata.age":true}`, problems{"metadata.age": m}},
		"age huge":             {`{"user_id":"p1","is_initiated":true,"metadata.age":1e99}`, problems{"metadata.age": m}},
		"age twice":            {ok + "&metadata.age=3&metadata.age=4", problems{"metadata.age": m}},
		"age twice, nested":    {`{"user_id":"p1","is_initiated":true,"metadata":{"age":3,"age":4}}`, problems{"metadata.age": m}},
		"age twice, metadata":  {`{"user_id":"p1","is_initiated":true,"metadata":{"age":3},"metadata":{"age":4}}`, problems{"metadata.age": m}},
		"age an object":        {`{"user_id":"p1","is_initiated":true,"metadata":{"age":{"years":3}}}`, problems{"metadata.age": m}},
		"weight 0":             {ok + "&metadata.weight=0", problems{"metadata.weight": m}},
		"gender":               {ok + "&metadata.gender=F", problems{"metadata.gender": m}},
		"race":                 {ok + "&metadata.race=green", problems{"metadata.race": m}},
		"ethnicity":            {ok + "&metadata.ethnicity=yes", problems{"metadata.ethnicity": m}},
		"zipcode short":        {ok + "&metadata.zipcode=0213", problems{"metadata.zipcode": m}},
		"zipcode long":         {ok + "&metadata.zipcode=021391", problems{"metadata.zipcode": m}},
		"zipcode letters":      {ok + "&metadata.zipcode=0213a", problems{"metadata.zipcode": m}},
		"zipcode empty":        {ok + "&metadata.zipcode=", problems{"metadata.zipcode": m}},
		"zipcode number":       {`{"user_id":"p1","is_initiated":true,"metadata":{"zipcode":12139}}`, problems{"metadata.zipcode": m}},
		"language":             {ok + "&metadata.language=English", problems{"metadata.language": m}},
		"unknown":              {ok + "&metadata.zip=02139", problems{"metadata.zip": m}},
		"unknown, nested":      {`{"user_id":"p1","is_initiated":true,"metadata":{"Age":30,"agee":null}}`, problems{"metadata.Age": m, "metadata.agee": m}},
		"brackets, value":      {ok + "&metadata[age]=0", problems{"metadata.age": m}},
		"brackets, unknown":    {ok + "&metadata[zip]=02139", problems{"metadata.zip": m}},
		"brackets, other":      {ok + "&metadata[age]=3&metadata.age=4", problems{"metadata.age": m}},
		"brackets, empty":      {ok + "&metadata[]=3", problems{"metadata[]": m}},
		"brackets, open":       {ok + "&metadata[age=3", problems{"metadata[age": m}},
		"brackets, nested":     {ok + "&metadata[age][0]=3", problems{"metadata[age][0]": m}},
		"brackets, list":       {ok + "&metadata[age][]=3", problems{"metadata[age][]": m}},
		"brackets, behind":     {ok + "&metadata.age[]=3", problems{"metadata.age[]": m}},
		"brackets, user":       {ok + "&user_id[]=p2", problems{"user_id[]": m}},
		"brackets, consent":    {ok + "&is_initiated[0]=false&is-initiated[]=false", problems{"is_initiated[0]": m, "is-initiated[]": m}},
		"metadata is a list":   {`{"user_id":"p1","is_initiated":true,"metadata":[1]}`, problems{"metadata": m}},
		"metadata is text":     {ok + "&metadata=age", problems{"metadata": m}},
		"all at once": {"is_initiated=perhaps&metadata.age=x&metadata.zipcode=1&metadata.weight=-1",
			problems{"user_id": u, "is_initiated": m, "metadata.age": m, "metadata.zipcode": m, "metadata.weight": m}},
		"before consent":   {"is_initiated=false&metadata.age=x", problems{"user_id": u, "metadata.age": m}},
		"broken JSON":      {`{"user_id":"p1",`, problems{"body": m, "user_id": u, "is_initiated": u}},
		"two objects":      {`{"user_id":"p1"}{}`, problems{"body": m, "user_id": u, "is_initiated": u}},
		"JSON not UTF-8":   {"{\"user_id\":\"\xff\"}", problems{"body": m, "user_id": u, "is_initiated": u}},
		"deep JSON":        {`{"a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}", problems{"body": m, "user_id": u, "is_initiated": u}},
		"broken form":      {"user_id=%zz&is_initiated=true", problems{"body": m, "user_id": u, "is_initiated": u}},
		"only a JSON list": {"[]", problems{"user_id": u, "is_initiated": u}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			w := s.do(request{method: "POST", path: "/v2/initiate", contentType: formType, body: c.body})
			var got struct {
				Error   string
				Context problems
			}
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatalf("got %s: %v", w.Body, err)
			}
			if w.Code != http.StatusUnprocessableEntity || got.Error != "unsupported_metadata_spec" || !maps.Equal(got.Context, c.want) {
				t.Errorf("got %d %s, want 422 with %v", w.Code, w.Body, c.want)
			}
			if _, err := s.store.Get(context.Background(), "clinic", "session-1"); err == nil {
				t.Error("a session was opened")
			}
		})
	}
}

func TestInitiateWithoutConsent(t *testing.T) {
	s := newService(t)
	for _, body := range []string{"user_id=p1&is_initiated=false", "user_id=p1&is_initiated=False&metadata.age=3", `{"user_id":"p1","is_initiated":false}`} {
		s.want(http.StatusNotAcceptable, request{method: "POST", path: "/initiate", body: body})
	}
	if n, err := s.store.Forget(context.Background(), "clinic", "p1"); n != 0 || err != nil {
		t.Errorf("got %d sessions %v, want nothing written", n, err)
	}
}

func TestFieldBodyTooLarge(t *testing.T) {
	s := newService(t)
	big := "user_id=p1&is_initiated=true&x=" + strings.Repeat("x", 64<<10)
	for _, r := range []request{{method: "POST", path: "/v2/initate", body: big}, {method: "PATCH", path: "/v2/feedback/phq/2", body: big}} {
		s.want(http.StatusRequestEntityTooLarge, r)
	}
}
