/** The one pool of upstream connections of this process. */
import { createTransport } from "../http/index.ts";

export { HttpError } from "../http/index.ts";
export type { ByteReader, Transport, UpstreamRequest, UpstreamResponse } from "../http/index.ts";

export const transport = createTransport(process.env);
