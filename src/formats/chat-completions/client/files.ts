/** Where chat-completions requests name files. */
import { asDataUri, filePlaces, type FileWay } from "../../shared/file-places.ts";

const PART: FileWay = {
  named(part, path) {
    const file = part.text("type") === "file" ? part.object("file") : undefined;
    const name = file?.text("file_id");
    if (name === undefined || file!.text("file_data") !== undefined) return undefined;
    return {
      ...{ name, path: `${path}.file.file_id` },
      put({ mediaType, name: filename }) {
        const data = asDataUri(mediaType);
        // Providers take images in parts of their own alone.
        if (mediaType.startsWith("image/"))
          return part.replaced("file", { type: ['"image_url"'], image_url: ['{"url":', ...data, "}"] });
        const isNamed = file!.text("filename") !== undefined;
        return file!.replaced("file_id", {
          file_data: data,
          ...(!isNamed && { filename: [JSON.stringify(filename)] }),
        });
      },
    };
  },
};

export const files = filePlaces(["file_id"], { members: { messages: { members: { content: PART } } } });
