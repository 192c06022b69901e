/** Where Messages requests name files. */
import { isTextMediaType } from "../../../core/media.ts";
import {
  asBase64,
  asText,
  filePlaces,
  type FileWay,
  misplaced,
  type ObjectBytes,
  unfilled,
} from "../../shared/file-places.ts";

/** What a source becomes, by the type of its block. */
function written(block: string | undefined, mediaType: string, path: string) {
  const isBinary = block === "image" ? mediaType.startsWith("image/") : mediaType === "application/pdf";
  if (isBinary)
    return { type: ['"base64"'], media_type: [JSON.stringify(mediaType)], data: asBase64 } as const;
  if (block === "document" && isTextMediaType(mediaType))
    return { type: ['"text"'], media_type: ['"text/plain"'], data: asText } as const;
  if (block === "image") throw misplaced(path, mediaType, "a block of type image needs an image");
  throw misplaced(path, mediaType, "a document is a PDF or a text; name images in a block of type image");
}

function sourceIn(block: ObjectBytes, path: string) {
  const source = block.object("source");
  const name = source?.text("type") === "file" ? source.text("file_id") : undefined;
  if (name === undefined) return undefined;
  const at = `${path}.source.file_id`;
  return {
    ...{ name, path: at },
    put: ({ mediaType }: { mediaType: string }) =>
      source!.replaced("file_id", written(block.text("type"), mediaType, at)),
  };
}

const BLOCK: FileWay = {
  named(block, path) {
    switch (block.text("type")) {
      case "image":
      case "document":
        return sourceIn(block, path);
      case "container_upload": {
        const name = block.text("file_id");
        const what = "put its files into a container of a provider";
        return name === undefined ? undefined : unfilled(name, `${path}.file_id`, what);
      }
      default:
        return undefined;
    }
  },
  members: {
    // Of results of tools, and of documents that consist of blocks.
    get content() {
      return BLOCK;
    },
    source: {
      members: {
        get content() {
          return BLOCK;
        },
      },
    },
  },
};

export const files = filePlaces(["file_id"], {
  members: { system: BLOCK, messages: { members: { content: BLOCK } } },
});
