package plug

import "context"

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
)

// Question is one question to a person.
type Question struct {
	Kind      QuestionKind
	SessionID string
	CallID    string
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
}

// Decision is a person's answer.
type Decision string

// The decisions.
const (
	Once    Decision = "once"
	Session Decision = "session"
	Deny    Decision = "deny"
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
}
