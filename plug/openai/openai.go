// Package openai is the built-in plugin for any server that speaks the
// protocols that OpenAI shaped: the provider behind a bare base URL.
//
// It is registration alone. The wire client lives in llm/chatapi; which server,
// key and model are used is the engine's decision.
package openai

import (
	"context"
	"fmt"

	"alisio/llm"
	"alisio/llm/chatapi"
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
			return chatapi.New(chatapi.Config{
				ID:             ID,
				BaseURL:        s.BaseURL,
				Key:            s.Key,
				HTTP:           api.HTTP(plug.PurposeProvider),
				TokenParameter: s.TokenParameter,
				StreamUsage:    s.StreamUsage,
				UserAgent:      s.UserAgent,
			}), nil
		},
	})
	if err != nil {
		return fmt.Errorf("register provider: %w", err)
	}
	return nil
}
