package bolt

import (
	"fmt"
	"maps"
	"testing"
	"time"
)

// TestDamagedRecordsDoNotHideNotices damages the first notice of an account that has
// others, and then all of them, with which the name of the account is lost.
func TestDamagedRecordsDoNotHideNotices(t *testing.T) {
	t.Parallel()
	st := opened(t)
	for i, account := range []string{"clinic", "clinic", "clinic", "other"} {
		s := sample()
		s.ID, s.Account, s.Audio = fmt.Sprint("s", i), account, ""
		s.Notify = s.CreatedAt.Add(time.Duration(i+1) * time.Second)
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		damage []string
		want   map[string]int
	}{
		{[]string{"s0"}, map[string]int{"clinic": 3, "other": 1}},
		{[]string{"s1", "s2"}, map[string]int{"other": 1}},
	} {
		for _, id := range step.damage {
			damage(t, st, id)
		}
		if got, err := st.Notices(t.Context()); err != nil || !maps.Equal(got, step.want) {
			t.Errorf("with %v damaged: got %v and error %v, want %v", step.damage, got, err, step.want)
		}
	}
}
