package local_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"carillon"
	"carillon/local"
)

// asProgram makes the test binary a program that runs a function in a folder until it is killed.
const asProgram = "LOCAL_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asProgram); dir != "" {
		fmt.Println(hang(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// hang runs a function that does not return.
func hang(dir string) error {
	here, err := local.Open(dir)
	if err != nil {
		return err
	}
	app, err := carillon.Open(here.Config("demo"))
	if err != nil {
		return err
	}
	app.Func("parent", "* * * * * * *", func(context.Context) error {
		fmt.Println("begun")
		select {}
	})
	return app.Run(context.Background())
}

// The next Open after a crash resolves the run that was cut off, and the job continues.
func TestOpen_AfterProcessWasKilled_RecoversItsRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asProgram+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	begun := lines.Scan() && lines.Text() == "begun"
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !begun {
		t.Fatal(lines.Text(), lines.Err())
	}
	cfg := open(t, dir).Config("demo")
	ended, stop := start(t, cfg)
	await(t, cfg, "demo.parent", "lost", ended)
	await(t, cfg, "demo.parent", "succeeded", ended)
	stop()
}
