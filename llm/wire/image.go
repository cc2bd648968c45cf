package wire

// imagePhrases are how servers say that they do not take an image of a request
// (C155): they can not decode it, do not like its size or its type, or their model sees
// none. All are in lower case.
func imagePhrases() []string {
	return []string{
		"could not process image", "image_parse_error", "invalid_image", "invalid image", "unsupported image", "image_url is not supported",
		"does not support image", "image input is not supported", "failed to decode image", "cannot identify image", "failed to load image",
		"failed to process image", "unable to process image", "image data you provided does not represent", "image exceeds", "image dimensions exceed",
		"no endpoints found that support image", "not a multimodal model", "image_too_large", "image_too_small", "invalid base64 image",
	}
}
