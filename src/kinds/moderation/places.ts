/** Where the texts of moderation requests are. */
import { each, ID, type Level, MEDIA, NUMBER, textPlaces, WORD } from "../../formats/shared/text-places.ts";

const PART: Level = {
  members: {
    ...each(WORD, "type role"),
    text: {},
    content: {},
    image_url: { kind: "media", members: { url: MEDIA } },
  },
};

export const places = textPlaces({
  request: { members: { ...each(ID, "model"), input: PART } },
  answer: {
    members: {
      ...each(ID, "id model"),
      results: {
        members: each(NUMBER, "flagged categories category_scores category_applied_input_types weir"),
      },
      usage: NUMBER,
    },
  },
  // No answer is a stream.
  stopped: () => [],
});
