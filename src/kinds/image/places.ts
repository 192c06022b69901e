/** Where the texts of image requests and answers are. */
import {
  each,
  ID,
  type Level,
  MEDIA,
  NUMBER,
  OTHER,
  textPlaces,
  WORD,
} from "../../formats/shared/text-places.ts";

const FILE: Level = {
  kind: "media",
  members: { ...each(WORD, "type sha256"), ...each(OTHER, "filename"), ...each(MEDIA, "image_url file_id") },
};

export const places = textPlaces({
  request: {
    members: {
      prompt: {},
      ...each(FILE, "image images mask markup"),
      ...each(ID, "model"),
      ...each(WORD, "size quality background moderation output_format response_format style complexity"),
      ...each(WORD, "input_fidelity stream svg"),
      ...each(ID, "user safety_identifier"),
    },
  },
  answer: {
    members: {
      ...each(WORD, "type size quality background output_format"),
      ...each(ID, "safety_identifier"),
      ...each(NUMBER, "created created_at usage svg_usage partial_image_index"),
      b64_json: MEDIA,
      data: { members: { ...each(MEDIA, "b64_json url"), revised_prompt: {} } },
    },
  },
  // A stream has no text.
  stopped: () => [],
});
