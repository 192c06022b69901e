/** Where Gemini requests name files. */
import { asBase64, filePlaces, type FileWay } from "../../shared/file-places.ts";
import { toCamel } from "./spelling.ts";

/** What clients send that do not know the type. */
const UNKNOWN = "application/octet-stream";

const PART: FileWay = {
  named(part, path) {
    const file = part.object("fileData");
    const name = file?.text("fileUri");
    if (name === undefined) return undefined;
    return {
      ...{ name, path: `${path}.fileData.fileUri` },
      put({ mediaType }) {
        const isTyped = (file!.text("mimeType") || UNKNOWN) !== UNKNOWN;
        return [
          ...part.renamed("fileData", "inlineData"),
          ...file!.replaced("fileUri", {
            data: asBase64,
            ...(!isTyped && { mimeType: [JSON.stringify(mediaType)] }),
          }),
        ];
      },
    };
  },
  members: {
    functionResponse: {
      members: {
        get parts() {
          return PART;
        },
      },
    },
  },
};

const CONTENT: FileWay = { members: { parts: PART } };

const REQUEST: FileWay = {
  members: {
    contents: CONTENT,
    systemInstruction: CONTENT,
    // A request whose tokens are counted.
    get generateContentRequest() {
      return REQUEST;
    },
  },
};

export const files = filePlaces(["fileUri", "file_uri"], REQUEST, toCamel);
