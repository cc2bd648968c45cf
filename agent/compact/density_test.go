package compact

import "testing"

func TestDensity(t *testing.T) {
	var d Density
	if d.Whole(100) != 100 || d.Fresh(100) != 100 || d.Estimated(100) != 100 {
		t.Errorf("what knows nothing corrects: %+v", d)
	}
	d.Counted(3_000, 1_000)
	if d.Whole(100) != 300 || d.Fresh(100) != 300 || d.Estimated(300) != 100 {
		t.Errorf("got %+v", d)
	}
	d.Grew(4_000, 1_000)
	if d.Whole(100) != 300 || d.Fresh(100) != 400 {
		t.Errorf("got %+v", d)
	}
	for _, few := range []func(){
		func() { d.Grew(10_000, leastFresh-1) }, func() { d.Counted(0, 10) }, func() { d.Counted(10, 0) }, func() { d.Refused(-5, 10) },
	} {
		was := d
		if few(); d != was {
			t.Errorf("learned %+v from what says nothing", d)
		}
	}
	d.Counted(500, 1_000) // never less than what is estimated
	d.Grew(-7, 1_000)
	if d.Whole(100) != 100 || d.Fresh(100) != 100 {
		t.Errorf("got %+v", d)
	}
	d.Refused(2_000, 1_000)
	if d.Whole(100) != 250 {
		t.Errorf("got %+v", d)
	}
	d.Refused(2_000, 1_000) // again: still too little
	if d.Whole(100) != 312 {
		t.Errorf("got %+v", d)
	}
	for range 9 {
		d.Refused(1<<50, 1)
	}
	if d.Counted(1<<50, 1); d.Whole(100) != 100*mostDensity {
		t.Errorf("got %+v", d)
	}
}
