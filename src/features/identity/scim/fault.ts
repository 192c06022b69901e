/** Why a request of SCIM is refused (RFC 7644 3.12). */

/** Kinds of faults of a request with status 400 or 409. */
export type ScimType =
  | "invalidFilter"
  | "invalidPath"
  | "invalidSyntax"
  | "invalidValue"
  | "mutability"
  | "noTarget"
  | "uniqueness";

export class ScimFault extends Error {
  readonly status: number;
  readonly scimType: ScimType | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    scimType: ScimType | undefined,
    detail: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
    this.headers = headers;
  }
}

export const invalid = (scimType: ScimType, detail: string) => new ScimFault(400, scimType, detail);

/** A text of the request in a sentence. */
export const quoted = (text: string) => JSON.stringify(text.slice(0, 80));
