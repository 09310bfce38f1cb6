package client_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"time"

	"github.com/voicescreen/voicescreen"
	"github.com/voicescreen/voicescreen/httpadapter"
	"github.com/voicescreen/voicescreen/httpadapter/client"
	"github.com/voicescreen/voicescreen/screen"
	"github.com/voicescreen/voicescreen/store/memory"
)

// One recording, from the consent to the result. The service is one of the
// example's own.
func Example() {
	st := memory.New(nil)
	defer st.Close()
	engine, err := voicescreen.New(st, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close(context.Background())
	keys := httpadapter.NewKeys()
	key, err := keys.Create("clinic-a")
	if err != nil {
		fmt.Println(err)
		return
	}
	service := httptest.NewServer(httpadapter.New(engine, keys, nil))
	defer service.Close()

	c, err := client.New(service.URL, key, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	id, err := c.Initiate(ctx, client.InitiateRequest{UserID: "patient-17", Consent: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	recording, err := os.Open("../../testdata/interview_en.wav")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer recording.Close()
	if err := c.Submit(ctx, id, recording, &client.SubmitOptions{Product: screen.DeepfakeBinary}); err != nil {
		fmt.Println(err)
		return
	}
	result, err := c.Wait(ctx, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Status, result.Categories, *result.Risk >= 0)
	// Output: success deepfake true
}
