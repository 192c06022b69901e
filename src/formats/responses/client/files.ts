/** Where Responses requests name files. */
import type { FilePlace } from "../../../core/file-places.ts";
import {
  asDataUri,
  filePlaces,
  type FileWay,
  misplaced,
  type ObjectBytes,
  unfilled,
} from "../../shared/file-places.ts";

/** An image that is named in place of its URL. */
function imageIn(object: ObjectBytes, path: string): FilePlace | undefined {
  const name = object.text("file_id");
  if (name === undefined || object.text("image_url") !== undefined) return undefined;
  return {
    ...{ name, path: `${path}.file_id` },
    put({ mediaType }) {
      if (mediaType.startsWith("image/"))
        return object.replaced("file_id", { image_url: asDataUri(mediaType) });
      throw misplaced(`${path}.file_id`, mediaType, "an image is needed; name other files in an input_file");
    },
  };
}

function fileIn(object: ObjectBytes, path: string): FilePlace | undefined {
  const name = object.text("file_id");
  const isGiven = object.text("file_data") !== undefined || object.text("file_url") !== undefined;
  if (name === undefined || isGiven) return undefined;
  return {
    ...{ name, path: `${path}.file_id` },
    put({ mediaType, name: filename }) {
      if (mediaType.startsWith("image/"))
        throw misplaced(`${path}.file_id`, mediaType, "images are named in an input_image");
      const isNamed = object.text("filename") !== undefined;
      return object.replaced("file_id", {
        file_data: asDataUri(mediaType),
        ...(!isNamed && { filename: [JSON.stringify(filename)] }),
      });
    },
  };
}

const NAMED = new Map([
  ["input_image", imageIn],
  ["computer_screenshot", imageIn],
  ["input_file", fileIn],
]);

const PART: FileWay = { named: (part, path) => NAMED.get(part.text("type") ?? "")?.(part, path) };

const ITEM: FileWay = { members: { content: PART, output: PART } };

const CONTAINER: FileWay = {
  named: (container, path) =>
    container
      .texts("file_ids")
      .map(([index, name]) =>
        unfilled(name, `${path}.file_ids[${index}]`, "put its files into a container of a provider"),
      ),
};

const REQUEST: FileWay = {
  members: {
    input: ITEM,
    instructions: ITEM,
    prompt: { members: { variables: { others: PART } } },
    tools: { members: { container: CONTAINER, input_image_mask: { named: imageIn } } },
  },
};

export const files = filePlaces(["file_id"], REQUEST);
