package plug

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"alisio/llm"
)

// SchemaVersion is the version of the event envelope; it stays while changes
// are additive.
const SchemaVersion = 1

// Event is one run event (spec events.md). Consumers ignore types and fields
// that they do not know.
type Event struct {
	RunID     string
	SessionID string
	// Seq counts the events of a run from 1, ephemeral ones too.
	Seq  int64
	Time time.Time
	// ID is the stored event's number in the whole store; zero on ephemeral
	// events, which are never stored.
	ID int64
	// CorrelationID is copied from the run's options.
	CorrelationID string
	Data          Payload
}

// Payload is the data of an event; its Go type decides the event's type.
type Payload interface{ EventType() EventType }

// EventType names a type of event.
type EventType string

// The types of events that the engine emits.
const (
	TypeRunStarted        EventType = "run_started"
	TypeTextDelta         EventType = "text_delta"
	TypeReasoningDelta    EventType = "reasoning_delta"
	TypeTurnCompleted     EventType = "turn_completed"
	TypeToolStarted       EventType = "tool_started"
	TypeToolProgress      EventType = "tool_progress"
	TypeToolCompleted     EventType = "tool_completed"
	TypeApprovalRequested EventType = "approval_requested"
	TypeApprovalResolved  EventType = "approval_resolved"
	TypeResponseTruncated EventType = "response_truncated"
	TypeRunCompleted      EventType = "run_completed"
	TypeRunTurnsExceeded  EventType = "run_turns_exceeded"
	TypeRunFailed         EventType = "run_failed"
	TypeRunCancelled      EventType = "run_cancelled"

	TypeSessionContextInjected EventType = "session_context_injected"
	TypePluginHookFailed       EventType = "plugin_hook_failed"
	TypePlanProposed           EventType = "plan_proposed"
	TypePlanDecided            EventType = "plan_decided"
	TypeModelChanged           EventType = "model_changed"

	TypeRequestRetry       EventType = "request_retry"
	TypeStreamRecovery     EventType = "stream_recovery"
	TypeTruncationRecovery EventType = "truncation_recovery"

	TypeCompactionStarted   EventType = "compaction_started"
	TypeCompactionCompleted EventType = "compaction_completed"
	TypeCompactionSkipped   EventType = "compaction_skipped"
	TypeCompactionFailed    EventType = "compaction_failed"
	TypeContextReduced      EventType = "context_reduced"
	TypePrefixChanged       EventType = "prefix_changed"

	TypeUsageRecorded EventType = "usage_recorded"
)

// EventTypes lists every type that the engine emits.
func EventTypes() []EventType {
	return []EventType{
		TypeRunStarted, TypeTextDelta, TypeReasoningDelta, TypeTurnCompleted,
		TypeToolStarted, TypeToolProgress, TypeToolCompleted,
		TypeApprovalRequested, TypeApprovalResolved, TypeResponseTruncated,
		TypeRunCompleted, TypeRunTurnsExceeded, TypeRunFailed, TypeRunCancelled,
		TypeSessionContextInjected, TypePluginHookFailed, TypePlanProposed, TypePlanDecided, TypeModelChanged,
		TypeRequestRetry, TypeStreamRecovery, TypeTruncationRecovery,
		TypeCompactionStarted, TypeCompactionCompleted, TypeCompactionSkipped, TypeCompactionFailed,
		TypeContextReduced, TypePrefixChanged, TypeUsageRecorded,
	}
}

// Ephemeral reports whether events of the type are never stored.
func (t EventType) Ephemeral() bool {
	switch t {
	case TypeTextDelta, TypeReasoningDelta, TypeToolProgress:
		return true
	}
	return false
}

// Ends reports whether the type is one of the four that end a run.
func (t EventType) Ends() bool {
	switch t {
	case TypeRunCompleted, TypeRunTurnsExceeded, TypeRunFailed, TypeRunCancelled:
		return true
	}
	return false
}

// envelope is the wire form of Event.
type envelope struct {
	SchemaVersion int             `json:"schemaVersion"`
	RunID         string          `json:"runId"`
	SessionID     string          `json:"sessionId"`
	Seq           int64           `json:"seq"`
	Type          EventType       `json:"type"`
	Timestamp     string          `json:"timestamp"`
	Data          json.RawMessage `json:"data"`
	EventID       string          `json:"eventId,omitempty"`
	CorrelationID string          `json:"correlationId,omitempty"`
}

// TimeFormat is RFC 3339 in UTC with milliseconds.
const TimeFormat = "2006-01-02T15:04:05.000Z07:00"

// MarshalJSON writes the event as events.md describes it.
func (e Event) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(e.Data)
	if err != nil {
		return nil, err
	}
	env := envelope{
		SchemaVersion: SchemaVersion, RunID: e.RunID, SessionID: e.SessionID, Seq: e.Seq,
		Type: e.Data.EventType(), Timestamp: e.Time.UTC().Format(TimeFormat), Data: data,
		CorrelationID: e.CorrelationID,
	}
	if e.ID != 0 {
		env.EventID = strconv.FormatInt(e.ID, 10)
	}
	return json.Marshal(env)
}

// DecodeEvent reads one event strictly: unknown fields, an unknown type and a
// wrong schema version are errors. Programs that want to live with newer
// versions decode the envelope themselves.
func DecodeEvent(line []byte) (Event, error) {
	var env envelope
	if err := llm.DecodeStrict(line, &env); err != nil {
		return Event{}, fmt.Errorf("decode event: %w", err)
	}
	if env.SchemaVersion != SchemaVersion {
		return Event{}, fmt.Errorf("decode event: schema version %d, want %d", env.SchemaVersion, SchemaVersion)
	}
	at, err := time.Parse(TimeFormat, env.Timestamp)
	if err != nil {
		return Event{}, fmt.Errorf("decode event: %w", err)
	}
	e := Event{RunID: env.RunID, SessionID: env.SessionID, Seq: env.Seq, Time: at, CorrelationID: env.CorrelationID}
	if env.EventID != "" {
		if e.ID, err = strconv.ParseInt(env.EventID, 10, 64); err != nil {
			return Event{}, fmt.Errorf("decode event: eventId: %w", err)
		}
	}
	if e.Data, err = decodePayload(env.Type, env.Data); err != nil {
		return Event{}, fmt.Errorf("decode event %s: %w", env.Type, err)
	}
	return e, nil
}

// Unknown is a stored event of a type, or in a form, that this program does not
// know: another version wrote it.
type Unknown struct {
	Type EventType
	// Body is the payload's JSON.
	Body json.RawMessage
}

// EventType implements Payload.
func (u Unknown) EventType() EventType { return u.Type }

// MarshalJSON gives the payload back as it was.
func (u Unknown) MarshalJSON() ([]byte, error) {
	if !json.Valid(u.Body) {
		return []byte("{}"), nil
	}
	return u.Body, nil
}

// StoredPayload reads the payload of a stored event. What is not exactly in a
// form that this program writes comes as Unknown, whole.
func StoredPayload(t EventType, body []byte) Payload {
	p, err := decodePayload(t, body)
	if err != nil {
		return Unknown{Type: t, Body: body}
	}
	return p
}

func decodePayload(t EventType, data []byte) (Payload, error) {
	switch t {
	case TypeRunStarted:
		return payload[RunStarted](data)
	case TypeTextDelta:
		return payload[Delta](data)
	case TypeReasoningDelta:
		return payload[ReasoningText](data)
	case TypeTurnCompleted:
		return payload[TurnCompleted](data)
	case TypeToolStarted:
		return payload[ToolStarted](data)
	case TypeToolProgress:
		return payload[ToolProgress](data)
	case TypeToolCompleted:
		return payload[ToolCompleted](data)
	case TypeApprovalRequested:
		return payload[ApprovalRequested](data)
	case TypeApprovalResolved:
		return payload[ApprovalResolved](data)
	case TypeResponseTruncated:
		return payload[ResponseTruncated](data)
	case TypeRunCompleted:
		return payload[RunCompleted](data)
	case TypeRunTurnsExceeded:
		return payload[RunTurnsExceeded](data)
	case TypeRunFailed:
		return payload[RunFailed](data)
	case TypeRunCancelled:
		return payload[RunCancelled](data)
	case TypeSessionContextInjected:
		return payload[SessionContextInjected](data)
	case TypePluginHookFailed:
		return payload[PluginHookFailed](data)
	case TypePlanProposed:
		return payload[PlanProposed](data)
	case TypeModelChanged:
		return payload[ModelChanged](data)
	case TypePlanDecided:
		return payload[PlanDecided](data)
	case TypeRequestRetry:
		return payload[RequestRetry](data)
	case TypeStreamRecovery:
		return payload[StreamRecovery](data)
	case TypeTruncationRecovery:
		return payload[TruncationRecovery](data)
	case TypeCompactionStarted:
		return payload[CompactionStarted](data)
	case TypeCompactionCompleted:
		return payload[CompactionCompleted](data)
	case TypeCompactionSkipped:
		return payload[CompactionSkipped](data)
	case TypeCompactionFailed:
		return payload[CompactionFailed](data)
	case TypeContextReduced:
		return payload[ContextReduced](data)
	case TypePrefixChanged:
		return payload[PrefixChanged](data)
	case TypeUsageRecorded:
		return payload[UsageRecorded](data)
	}
	return nil, errors.New("unknown type")
}

func payload[T Payload](data []byte) (Payload, error) {
	var p T
	err := llm.DecodeStrict(data, &p)
	return p, err
}
