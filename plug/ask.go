package plug

import (
	"context"
	"errors"
)

// Asker puts a question to the person behind a session. A surface binds one;
// without a surface the headless one answers.
type Asker interface {
	// Ask waits for the answer. When ctx ends the question is withdrawn and
	// ctx's error returned.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// QuestionKind says what is asked.
type QuestionKind string

// The kinds of questions.
const (
	// AskCall asks whether a call may run.
	AskCall QuestionKind = "call"
	// AskDirectory asks whether the files of a directory outside the workspace
	// may be used.
	AskDirectory QuestionKind = "directory"
	// AskQuestions puts questions of the model or of a plugin.
	AskQuestions QuestionKind = "questions"
	// AskPlan asks for a review of a plan.
	AskPlan QuestionKind = "plan"
)

// ErrNoSurface tells that nobody can be asked.
var ErrNoSurface = errors.New("nobody can be asked: no person is at a terminal")

// Question is one question to a person.
type Question struct {
	Kind      QuestionKind
	SessionID string
	CallID    string
	// Label is the agent path of a child ("general › explore"), empty for a root.
	Label string
	// Tool is the tool's name and Plan exactly what it will do.
	Tool string
	Plan Plan
	// Directory is the absolute directory of an AskDirectory question.
	Directory string
	// Protected names the protected path that made the engine ask although the
	// mode would allow the call; empty otherwise.
	Protected string
	// Remedy tells how this could be allowed where nobody can be asked:
	// "--allow-write allows it".
	Remedy string
	// Questions are those of AskQuestions.
	Questions []Choice
	// Review is the plan of AskPlan.
	Review Review
}

// Choice is one question with its options.
type Choice struct {
	// Header is at most 12 characters, for a tab or a heading.
	Header   string   `json:"header,omitempty"`
	Question string   `json:"question"`
	Options  []Option `json:"options"`
	// Multiple: more than one option may be chosen.
	Multiple bool `json:"multiple,omitempty"`
}

// Option is one answer that can be chosen.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Chosen is the answer to a Choice. All empty: the person skipped it.
type Chosen struct {
	// Options are indexes into Choice.Options.
	Options []int `json:"options,omitempty"`
	// Text is what the person wrote instead, or beside.
	Text string `json:"text,omitempty"`
}

// Review is a plan that a person is asked to approve.
type Review struct {
	PlanID string
	// Revision counts the versions of a plan from 1; Hash is the SHA-256 of Text.
	Revision int
	Hash     string
	Title    string
	// Text is Markdown.
	Text string
}

// Decision is a person's answer. A plan is approved by Once and skipped by Deny.
type Decision string

// The decisions.
const (
	Once    Decision = "once"
	Session Decision = "session"
	Deny    Decision = "deny"
	// Feedback answers a plan: not yet, and Answer.Reason says what to change.
	Feedback Decision = "feedback"
)

// DecidedBy says what made a decision.
type DecidedBy string

// Who can decide.
const (
	ByUser     DecidedBy = "user"
	ByFlag     DecidedBy = "flag"
	ByMode     DecidedBy = "mode"
	ByGrant    DecidedBy = "grant"
	ByHeadless DecidedBy = "headless"
)

// Answer is the answer to a Question.
type Answer struct {
	Decision Decision
	// Reason is told to the model.
	Reason string
	By     DecidedBy
	// Chosen answers the questions of AskQuestions, one each.
	Chosen []Chosen
}
