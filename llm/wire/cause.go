package wire

import (
	"net/http"
	"strings"
	"time"

	"alisio/llm"
)

// longWait is the wait above which a limit is a used-up quota when its text
// leaves both open: some servers speak of quota for limits of a minute.
const longWait = time.Minute

// classify decides the cause. The status decides first, then what the body
// calls the fault, then what it says about it.
func classify(status int, r report, wait time.Duration) llm.Cause {
	named := r.named()
	switch {
	case named == llm.CauseQuota, status == http.StatusPaymentRequired:
		return llm.CauseQuota
	case status == http.StatusTooManyRequests, status == 0 && named == llm.CauseRateLimited:
		// Never an overflow, whatever the text says.
		if contains(r.evidence, quotaPhrases()) && (wait == 0 || wait > longWait) {
			return llm.CauseQuota
		}
		return llm.CauseRateLimited
	case status == http.StatusUnauthorized:
		return llm.CauseAuth
	case named == llm.CauseFiltered, status == http.StatusForbidden && contains(r.evidence, []string{"moderation", "flagged"}):
		return llm.CauseFiltered
	case status == http.StatusForbidden:
		return llm.CauseAuth
	case named == llm.CauseOutputTruncated:
		return named
	case overflow(status, named, r):
		return llm.CauseContextLength
	case status == 0 && named != "":
		return named
	case status == 0:
		return llm.CauseServer
	}
	return byStatus(status, r)
}

// byStatus decides where the body says nothing. The runner repeats
// CauseServer, so the 4xx that are worth another try belong there.
func byStatus(status int, r report) llm.Cause {
	switch {
	case status >= 500:
		return llm.CauseServer
	case status == http.StatusRequestTimeout, status == http.StatusConflict,
		status == http.StatusMisdirectedRequest, status == http.StatusTooEarly:
		return llm.CauseServer
	case contains(r.evidence, []string{"api key not valid", "api_key_invalid", "invalid api key"}):
		return llm.CauseAuth // Gemini answers 400 for this
	}
	return llm.CauseBadRequest
}

// named is the cause that a code, type or status word stands for.
func (r *report) named() llm.Cause {
	found := llm.Cause("")
	for _, w := range r.words {
		c := byWord(w)
		// A body often holds a general type beside a precise code.
		if found == "" || rank(c) > rank(found) {
			found = c
		}
	}
	return found
}

// rank orders causes by how much they say.
func rank(c llm.Cause) int {
	switch c {
	case "":
		return 0
	case llm.CauseBadRequest, llm.CauseServer:
		return 1
	}
	return 2
}

// byWord knows the codes, types and statuses of OpenAI and the servers that
// follow it, of Anthropic and of Google, in lower case. An unknown word is no
// cause: then the status decides.
func byWord(w string) llm.Cause {
	switch w {
	case "context_length_exceeded", "exceed_context_size_error", "context_window_exceeded",
		"model_context_window_exceeded", "request_too_large":
		return llm.CauseContextLength
	case "output_truncated":
		return llm.CauseOutputTruncated
	case "insufficient_quota", "quota_exceeded", "billing_hard_limit_reached", "billing_not_active", "billing_error",
		"insufficient_balance", "insufficient_credits", "insufficient_funds", "payment_required", "usage_limit_reached",
		"access_terminated", "credit_balance_exhausted":
		return llm.CauseQuota
	case "rate_limit_exceeded", "rate_limit_error", "rate_limited", "too_many_requests", "resource_exhausted",
		"rate_limit_reached_error", "engine_overloaded_error", "requests", "tokens":
		return llm.CauseRateLimited
	case "authentication_error", "invalid_api_key", "permission_error", "permission_denied", "unauthenticated",
		"unauthorized", "account_deactivated", "invalid_authentication_error":
		return llm.CauseAuth
	case "content_filter", "content_policy_violation", "content_filter_error", "moderation_blocked", "responsibleaipolicyviolation",
		"bio_policy", "image_content_policy_violation":
		return llm.CauseFiltered
	case "invalid_request_error", "not_found_error", "model_not_found", "not_found", "invalid_argument", "badrequesterror",
		"bad_request", "failed_precondition", "unsupported_parameter", "unsupported_value", "invalid_prompt", "data_residency_mismatch",
		"invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_url", "image_too_large", "image_too_small",
		"image_parse_error", "invalid_image_mode", "image_file_too_large", "unsupported_image_media_type", "empty_image_file",
		"failed_to_download_image", "image_file_not_found":
		return llm.CauseBadRequest
	case "server_error", "api_error", "internal_error", "internal_server_error", "overloaded_error", "overloaded",
		"unavailable_error", "service_unavailable", "unavailable", "internal", "deadline_exceeded", "timeout", "timeout_error",
		"server_overloaded", "upstream_error", "bad_gateway", "vector_store_timeout":
		return llm.CauseServer
	}
	return ""
}

// overflow recognises a prompt that is too long for the model. Proxies that
// answer 400 or 413 without any body mean this.
func overflow(status int, named llm.Cause, r report) bool {
	switch {
	case named == llm.CauseContextLength:
		return true
	case named == llm.CauseRateLimited:
		return false
	case status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge:
		if r.blank {
			return true
		}
	}
	return contains(r.evidence, overflowPhrases()) ||
		contains(r.evidence, roomWords()) && contains(r.evidence, excessWords())
}

// overflowPhrases are how servers word an overflow, in lower case. A wrong match
// costs one compaction, a missing one ends the run.
func overflowPhrases() []string {
	return []string{
		"prompt is too long", // Anthropic
		"prompt too long",    // Ollama
		"exceeded max context length",
		"exceeds the context window", // OpenAI
		"context_length_exceeded",
		"maximum context length is", // OpenAI, vLLM, OpenRouter
		"maximum prompt length is",  // xAI
		"reduce the length of the messages",
		"exceeds the available context size", // llama.cpp
		"greater than the context length",    // LM Studio
		"too large for model with",           // Mistral
		"exceeded model token limit",         // Kimi
		"context window exceeds limit",       // MiniMax
		"exceeds the limit of",               // Copilot
		"too many tokens",
		"input is too long",                                          // Bedrock
		"prompt exceeds max length",                                  // z.ai
		"max_new_tokens` must be <=", "`inputs` must have less than", // TGI
		"range of input length should be", // DashScope
	}
}

// roomWords and excessWords name together, in any order, what many servers word in their
// own way: "input length and max_tokens exceed context limit", "the input is longer than
// the model's context length", "context size has been exceeded".
func roomWords() []string {
	return []string{
		"context length", "context size", "context window", "context limit",
		"input token count", "prompt token count", "number of input tokens", "input length",
	}
}

func excessWords() []string {
	return []string{"exceed", "longer than", "greater than", "larger than", "too long", "too large", "too big", "overflow"}
}

// quotaPhrases are how servers word a quota that waiting does not refill soon,
// in lower case. They count beside a 429 alone.
func quotaPhrases() []string {
	return []string{
		"insufficient_quota", "exceeded your current quota", "quota has been exhausted", "quota exhausted",
		"quota exceeded", "insufficient balance", "insufficient credit", "out of credits", "billing",
		"monthly limit", "monthly usage limit", "weekly limit", "daily limit", "limit for the month",
		"per day", "per month", "usage limit",
	}
}

// contains looks for phrases in lower-case text.
func contains(text string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
