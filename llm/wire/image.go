package wire

import "alisio/llm"

// refusesImage reports whether a server does not take an image of the request: it can not
// decode it, does not like its size or its type, or its model sees none (C155). Some local
// servers say so with a 500, or inside a stream, as if another try could help.
func refusesImage(cause llm.Cause, r report) bool {
	return (cause == llm.CauseBadRequest || cause == llm.CauseServer) && contains(r.evidence, imagePhrases())
}

// imagePhrases are how servers word it, all in lower case.
func imagePhrases() []string {
	return []string{
		"could not process image", "unable to process image", "failed to process image", "cannot process image", // Anthropic, Bedrock
		"image exceeds", "image dimensions exceed",
		"image_parse_error", "invalid_image", "invalid image", "unsupported_image", "unsupported image", "invalid_base64_image", // OpenAI
		"invalid base64 image", "image_too_large", "image_too_small", "image_file_", "empty_image_file",
		"image data you provided does not represent", "image_url is only supported", "image_url is not supported",
		"unable to process input image", "provided image is not valid", // Gemini
		"does not support image", "no endpoints found that support image", // OpenRouter
		"cannot identify image", "not a multimodal model", "image(s) may be provided", // vLLM
		"image input is not supported", "failed to load image", "failed to decode image", `content part type: "image_url"`, // llama.cpp
		"image: unknown format",       // Ollama
		"but images were provided",    // LM Studio
		"unknown variant `image_url`", // DeepSeek
		"image content is not supported",
		"does not support vision", "not support images", "vision is not supported", "vision not supported",
		"images are not supported", "image inputs are not supported", "support multimodal", "content type image_url",
	}
}
