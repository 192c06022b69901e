/** Takes in the form of a call, and gives it up when the call ends. */
import type { Call } from "../core/call.ts";
import type { FormFields } from "../core/model-kind.ts";
import type { Upload } from "../core/upload.ts";
import type { RouteContext } from "./routes/generate.ts";
import { bodyOfForm } from "../gateway/kinds/form-body.ts";
import { type BodyLimits, readStream } from "./read-body.ts";
import { RequestBody } from "./request-body.ts";
import { takeUpload } from "./upload.ts";

/** Sixteen images of 50 MB, and a margin. Bytes. */
const LONGEST_FORM = 1024 * 1024 * 1024;

export function isForm({ headers }: Request): boolean {
  return /^multipart\//i.test(headers.get("content-type") ?? "");
}

/** The caller must dispose of the result. @throws GatewayError for a body that is no form, too long, too slow or cut */
export function readForm(
  request: Request,
  { hasAudio }: FormFields,
  { limits, gateway }: Pick<RouteContext, "limits" | "gateway">,
): Promise<Upload> {
  const body = Math.max(limits.bodyBytes, LONGEST_FORM);
  const bytes = readStream(request, { ...limits, bodyBytes: body }, gateway.clock);
  return takeUpload(bytes, request.headers.get("content-type"), { body, text: limits.bodyBytes, hasAudio });
}

/** The form is there until the call ends, however it ends. @throws GatewayError as {@link readForm}, or if the call has ended */
export async function takeForm(
  call: Call,
  request: Request,
  form: FormFields,
  context: RouteContext,
): Promise<Upload> {
  const upload = await readForm(request, form, context);
  const dispose = () => void upload[Symbol.asyncDispose]();
  if (call.outcome || call.abortReason) {
    dispose();
    throw call.abortReason ?? new Error("the call ended before its request was read");
  }
  const { release } = call;
  call.release = () => {
    release?.();
    dispose();
  };
  return upload;
}

/** The JSON of a form. @throws GatewayError `invalid-request` */
export function requestOfForm(upload: Upload, form: FormFields, { depth }: BodyLimits): RequestBody {
  return new RequestBody(Buffer.from(JSON.stringify(bodyOfForm(upload, form))), depth);
}
