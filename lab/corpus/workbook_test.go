package corpus

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/voicescreen/voicescreen/internal/proof/cost"
	"github.com/voicescreen/voicescreen/screen"
)

// deflate is used again and again: a new one takes a megabyte.
var deflate, _ = flate.NewWriter(nil, flate.BestSpeed)

// packed is a workbook of two files inside, deflated; "" is none.
func packed(t testing.TB, shared, sheet string) []byte {
	return packedBy(t, zip.Deflate, shared, sheet)
}

func packedBy(t testing.TB, method uint16, shared, sheet string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		deflate.Reset(w)
		return deflate, nil
	})
	for _, part := range [][2]string{{"xl/sharedStrings.xml", shared}, {"xl/worksheets/sheet1.xml", sheet}} {
		if part[1] == "" {
			continue
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: part[0], Method: method})
		if err == nil {
			_, err = io.WriteString(w, part[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// rowsOf reads a workbook.
func rowsOf(b []byte) (rows [][]string, err error) {
	t, err := readWorkbook(fstest.MapFS{"a.xlsx": &fstest.MapFile{Data: b}}, "a.xlsx")
	if err != nil {
		return nil, err
	}
	return rows, t.each(func(row []string) { rows = append(rows, append([]string{}, row...)) })
}

// slowRows are the rows below the header as encoding/xml finds them, and false
// where it finds fault.
func slowRows(shared, sheet string) (rows [][]string, ok bool) {
	var texts struct {
		Items []struct {
			Text []string `xml:"t"`
			Runs []struct {
				Text []string `xml:"t"`
			} `xml:"r"`
		} `xml:"si"`
	}
	var cells struct {
		Rows []struct {
			Cells []struct {
				Attrs  []xml.Attr `xml:",any,attr"`
				Value  []string   `xml:"v"`
				Inline []string   `xml:"is>t"`
			} `xml:"c"`
		} `xml:"sheetData>row"`
	}
	if shared != "" && xml.Unmarshal([]byte(shared), &texts) != nil || xml.Unmarshal([]byte(sheet), &cells) != nil {
		return nil, false
	}
	for _, r := range cells.Rows {
		row := []string{}
		for _, c := range r.Cells {
			attrs := map[string]string{}
			for _, a := range c.Attrs {
				if _, twice := attrs[a.Name.Local]; a.Name.Space == "" && twice {
					return nil, false
				}
				if a.Name.Space == "" {
					attrs[a.Name.Local] = a.Value
				}
			}
			at := columnOf(attrs["r"])
			if at < 0 || at >= maxColumns {
				return nil, false
			}
			for len(row) <= at {
				row = append(row, "")
			}
			value := c.Value
			if attrs["t"] == "inlineStr" {
				value = c.Inline
			}
			if len(value) == 0 {
				continue
			}
			row[at] = value[len(value)-1]
			if attrs["t"] != "s" {
				continue
			}
			i, err := strconv.Atoi(row[at])
			if err != nil || i < 0 || i >= len(texts.Items) {
				return nil, false
			}
			row[at] = strings.Join(texts.Items[i].Text, "")
			for _, run := range texts.Items[i].Runs {
				row[at] += strings.Join(run.Text, "")
			}
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, false
	}
	return rows[1:], true
}

const (
	goodShared = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\r\n" +
		`<sst xmlns="http://x" count="2"><!-- > --><si><t>subject id</t><phoneticPr fontId="1"/></si><si><r><rPr><b/></rPr><t>PH</t></r><r><t xml:space="preserve">Q-9 </t></r><rPh sb="0" eb="1"><t>no</t></rPh></si></sst>`
	goodSheet = `<x:worksheet xmlns:x="http://x"><x:dimension ref="A1:B2"/><x:sheetData><x:row r="1" ht='1 > 0'><x:c r="A1" t="s"><x:v>0</x:v></x:c><x:c r="B1" t="s" ><x:v>1</x:v></x:c></x:row>` +
		`<x:row><x:c r="B2"><x:f>1</x:f><x:v>10</x:v></x:c><x:c r="D2" x:r="E9" t="inline&#83;tr"><x:is><x:t>a` + "\r\n\r\r" + `&#13;&lt;&#x4e;&#66;&gt; <![CDATA[<&]]]>é</x:t></x:is></x:c><x:c r="E2"/></x:row><x:row/></x:sheetData></x:worksheet>`
)

func TestWorkbookAgreesWithEncodingXML(t *testing.T) {
	got, err := rowsOf(packed(t, goodShared, goodSheet))
	want, ok := slowRows(goodShared, goodSheet)
	if err != nil || !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if by := [][]string{{"", "10", "", "a\n\n\n\r<NB> <&]é", ""}, {}}; !reflect.DeepEqual(got, by) {
		t.Errorf("got %q, want %q", got, by)
	}
}

func TestAnAttributeThatStandsThereTwiceIsAnError(t *testing.T) {
	_, err := rowsOf(packed(t, "", `<w><sheetData><row><c r="A1"><v>x</v></c></row><row><c r="A2" r="B2"><v>y</v></c></row></sheetData></w>`))
	if !errors.Is(err, ErrCorpus) {
		t.Errorf("got %v, want ErrCorpus", err)
	}
}

// FuzzWorkbook says that rows that are read are those that encoding/xml finds,
// where it finds any.
func FuzzWorkbook(f *testing.F) {
	f.Add(goodShared, goodSheet)
	f.Add("", `<w><sheetData><row><c r="A1"><v>x</v></c></row><row><c r="B1" t="inlineStr"><is><t>y</t></is></c></row></sheetData></w>`)
	f.Add(`<s><si/><si><t/></si></s>`, `<w><sheetData><row><c r="A1" t="s"><v>1</v></c></row><row><c r='C1' t='s'><v>0</v></c></row></sheetData></w>`)
	f.Fuzz(func(t *testing.T, shared, sheet string) {
		b := packedBy(t, zip.Store, shared, sheet) // in a tenth of the time
		var got [][]string
		var err error
		cost.Check(t, len(b), func() { got, err = rowsOf(b) })
		if err != nil {
			if !errors.Is(err, ErrCorpus) {
				t.Fatalf("got %v, want ErrCorpus", err)
			}
			return
		}
		if want, ok := slowRows(shared, sheet); ok && len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// TestWorkbooksCostInProportion reads workbooks that unpack to a megabyte of
// nothing but the shortest elements, and one of a directory without end.
func TestWorkbooksCostInProportion(t *testing.T) {
	const (
		sheet, row = `<w><sheetData>`, `<row><c r="A1"><v>subject id</v></c><c r="B1"><v>type</v></c></row>`
		sheetEnd   = `</sheetData></w>`
	)
	fill := func(begin, unit, end string) string {
		return begin + strings.Repeat(unit, (cost.Size-len(begin)-len(end))/len(unit)) + end
	}
	var many bytes.Buffer
	z := zip.NewWriter(&many)
	for many.Len() < maxWorkbook/3 { // and as much again for the directory
		if _, err := z.CreateHeader(&zip.FileHeader{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"rows":             packed(t, "", fill(sheet+row, `<row/>`, sheetEnd)),
		"cells":            packed(t, "", fill(sheet+row+`<row>`, `<c r="A1"/>`, `</row>`+sheetEnd)),
		"cells far away":   packed(t, "", fill(sheet+row+`<row>`, `<c r="IV1"/>`, `</row>`+sheetEnd)),
		"values":           packed(t, "", fill(sheet+row+`<row><c r="A1">`, `<v>00</v>`, `</c></row>`+sheetEnd)),
		"a long value":     packed(t, "", fill(sheet+row+`<row><c r="A1"><v>`, `0`, `</v></c></row>`+sheetEnd)),
		"references":       packed(t, "", fill(sheet+row+`<row><c r="A1"><v>`, `&#48;`, `</v></c></row>`+sheetEnd)),
		"depth":            packed(t, "", fill(sheet+row, `<a>`, ``)),
		"unknown elements": packed(t, "", fill(sheet+row, `<a/>`, sheetEnd)),
		"attributes":       packed(t, "", fill(sheet+row+`<row><c `, `a="" `, `/></row>`+sheetEnd)),
		"comments":         packed(t, "", fill(sheet+row, `<!---->`, sheetEnd)),
		"CDATA":            packed(t, "", fill(sheet+row+`<row><c r="A1"><v>`, `<![CDATA[]]>`, `</v></c></row>`+sheetEnd)),
		"shared texts":     packed(t, fill(`<s>`, `<si/>`, `</s>`), sheet+row+sheetEnd),
		"long texts":       packed(t, fill(`<s>`, `<si><t>`+strings.Repeat("a", 30000)+`</t></si>`, `</s>`), sheet+row+sheetEnd),
		"parts of texts":   packed(t, fill(`<s><si>`, `<t>aa</t>`, `</si></s>`), sheet+row+sheetEnd),
		"references to it": packed(t, `<s><si><t>`+strings.Repeat("a", 30000)+`</t></si></s>`, fill(sheet+row+`<row>`, `<c r="A1" t="s"><v>0</v></c>`, `</row>`+sheetEnd)),
		"many files":       many.Bytes(),
		"a large file":     bytes.Repeat([]byte("PK\x03\x04"), cost.Size/4),
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{modmaTable + ".xlsx": &fstest.MapFile{Data: b}}
			cost.Check(t, len(b), func() {
				if _, err := Open("modma", root, screen.Depression); !errors.Is(err, ErrCorpus) {
					t.Errorf("got %v, want ErrCorpus", err)
				}
			})
		})
	}
}
