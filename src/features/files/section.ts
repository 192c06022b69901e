/** Files that clients keep in weir. */
import { isAbsolute } from "node:path";
import { section } from "../../config/section.ts";
import { Type } from "@sinclair/typebox";
import { duration, size } from "../../config/sections/amounts.ts";
import { CLOSED, oneOf } from "../../config/sections/kinds.ts";

/** No files are kept. */
export const NOWHERE = "none";
/** In the folder `files` of the state folder. */
export const IN_STATE = "state";

export const filesSection = section(
  "files",
  Type.Object(
    {
      where: Type.String({
        default: IN_STATE,
        examples: [IN_STATE, "/srv/weir-files", "s3://bucket/prefix", NOWHERE],
        description:
          "Where the bytes of files are kept, encrypted: in the folder `files` of the state folder (`state`), in another folder, or in a bucket (`s3://bucket/prefix`), with the credentials, the region and the endpoint of the environment variables `S3_*` or `AWS_*`. Several gateways that share a store need a folder that all of them have, or a bucket. `none`: weir keeps no files.",
      }),
      max: size("512MB", "Largest file that is sent with one request."),
      keep: duration(
        "30d",
        "How long a file is kept that its client did not give an end, and the longest time that one may give.",
      ),
      quota: size("10GB", "Size of all files of a path together, not counting paths below it."),
      inline: size(
        "32MB",
        "Size of the files of one request together that weir puts into it where it names them by id. weir refuses a request with more (413).",
      ),
      share: oneOf(["owner", "path"], {
        default: "owner",
        description:
          "Who sees a file: the key and the person that sent it (`owner`), or each key of the same path too (`path`).",
      }),
    },
    {
      ...CLOSED,
      description:
        "Files that clients keep in weir, for batches and for requests that name them: `/v1/files` and `/v1/uploads` in the APIs of OpenAI, Anthropic and Google.",
    },
  ),
  {
    after: ["guards", "paidOnce", "cache", "tape", "capture", "responses"],
    faults: (written) => {
      const { where } = written as { where?: unknown };
      if (typeof where !== "string" || where === IN_STATE || where === NOWHERE) return [];
      if (isAbsolute(where) || BUCKET.test(where)) return [];
      const clause =
        'where must be "state", "none", an absolute folder, or a bucket such as "s3://bucket/prefix"';
      return [{ path: ["files", "where"], clause }];
    },
  },
);

/** Bucket and prefix. */
export const BUCKET = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w./-]*))?$/;
