package wire

import (
	"encoding/json"
	"testing"

	"alisio/llm"
)

// C155. Symptom: an image that a server refuses is sent with every request after it.
// Trigger: what servers really say of one, with the status that they say it with; 200 is an
// error inside a stream.
func TestC155RefusedImages(t *testing.T) {
	for _, c := range []struct {
		status     int
		kind, text string
		want       bool
	}{
		{400, "invalid_request_error", "Could not process image", true},
		{400, "invalid_request_error", "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6122348 bytes > 5242880 bytes", true},
		{400, "invalid_request_error", "At least one of the image dimensions exceed max allowed size: 8000 pixels", true},
		{400, "invalid_image_format", "You uploaded an unsupported image. Please make sure your image is valid.", true},
		{400, "image_parse_error", "no", true},
		{400, "unsupported_image_media_type", "no", true},
		{400, "image_file_too_large", "no", true},
		{400, "invalid_request_error", "Invalid content type. image_url is only supported by certain models.", true},
		{400, "INVALID_ARGUMENT", "Unable to process input image. Please retry or report in a support forum", true},
		{404, "not_found_error", "No endpoints found that support image input", true},
		{400, "BadRequestError", "cannot identify image file <_io.BytesIO object at 0x7f>", true},
		{500, "InternalServerError", "cannot identify image file <_io.BytesIO object at 0x7f>", true},
		{400, "BadRequestError", "At most 0 image(s) may be provided in one request.", true},
		{500, "server_error", "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj", true},
		{400, "invalid_request_error", "Failed to load image or audio file", true},
		{500, "server_error", `Failed to parse messages: Unsupported content part type: "image_url"; messages = []`, true},
		{500, "api_error", "failed to process inputs: image: unknown format", true},
		{500, "api_error", "invalid image type: application/octet-stream", true},
		{200, "", "Error in iterating prediction stream: ValueError: Vision add-on is not loaded, but images were provided for processing", true},
		{422, "", "Failed to deserialize the JSON body: messages[0]: unknown variant `image_url`, expected `text`", true},
		{400, "invalid_request_error", "This model does not support vision", true},
		{400, "invalid_request_error", "the model doesn't support multimodal input", true},
		{400, "", "Images are not supported by this model.", true},

		{400, "invalid_request_error", "messages: the first message must be of the user", false},
		{500, "server_error", "the image of the container is being pulled", false},
		{400, "context_length_exceeded", "the image exceeds the context window", false},
		{429, "rate_limit_error", "could not process image: too many requests", false},
		{401, "authentication_error", "invalid image key", false},
		{400, "content_policy_violation", "invalid image: not allowed", false},
	} {
		fault := map[string]string{"message": c.text, "type": c.kind}
		body, _ := json.Marshal(map[string]any{"error": fault})
		var e *llm.Error
		if c.status == 200 {
			inner, _ := json.Marshal(fault)
			e = (Server{}).InBand(inner)
		} else {
			e = (Server{}).Status(answer(c.status, string(body)))
		}
		if e.Image != c.want {
			t.Errorf("%d %s %q: got %v (%s)", c.status, c.kind, c.text, e.Image, e.Cause)
		}
	}
}
