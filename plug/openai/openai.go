// Package openai is the built-in plugin for any server that speaks the
// protocols that OpenAI shaped: the provider behind a bare base URL.
//
// It is registration alone. The wire clients live in llm/chatapi and
// llm/responses; which server, protocol, key and model are used is the engine's
// decision, and no protocol is guessed.
package openai

import (
	"context"
	"fmt"
	"net/http"

	"alisio/llm"
	"alisio/llm/chatapi"
	"alisio/llm/responses"
	"alisio/plug"
)

// ID is the id of the plugin and of its provider.
const ID = "openai-compatible"

// Plugin returns the plugin.
func Plugin() plug.Plugin {
	return plug.Plugin{
		ID:         ID,
		Name:       "OpenAI-compatible servers",
		Version:    "1.0.0",
		APIVersion: plug.APIVersion,
		Setup:      setup,
	}
}

func setup(_ context.Context, api *plug.API) error {
	_, err := api.AddProvider(plug.ProviderRegistration{
		ID:       ID,
		Name:     "OpenAI-compatible",
		Endpoint: true,
		Create: func(_ context.Context, s plug.ProviderSettings) (llm.Provider, error) {
			return create(s, api.HTTP(plug.PurposeProvider))
		},
	})
	if err != nil {
		return fmt.Errorf("register provider: %w", err)
	}
	return nil
}

// create makes the client of the protocol that the settings name.
func create(s plug.ProviderSettings, client *http.Client) (llm.Provider, error) {
	switch s.APIMode {
	case "", "chat":
		return chatapi.New(chatapi.Config{
			ID:             ID,
			BaseURL:        s.BaseURL,
			Key:            s.Key,
			HTTP:           client,
			TokenParameter: s.TokenParameter,
			StreamUsage:    s.StreamUsage,
			UserAgent:      s.UserAgent,
			Headers:        s.Headers,
			ExtraBody:      s.ExtraBody,
		}), nil
	case "responses":
		return responses.New(responses.Config{
			ID:             ID,
			BaseURL:        s.BaseURL,
			Key:            s.Key,
			HTTP:           client,
			TokenParameter: s.TokenParameter,
			UserAgent:      s.UserAgent,
			Headers:        s.Headers,
			ExtraBody:      s.ExtraBody,
		}), nil
	}
	return nil, llm.Errorf(llm.CauseBadRequest, "unknown protocol %q", s.APIMode).
		WithHint("provider.apiMode is \"chat\" or \"responses\"")
}
