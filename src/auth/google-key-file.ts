/** Reads key files of Google: of service accounts, and those that `gcloud auth application-default login` writes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Surroundings } from "../core/endpoint.ts";
import type { JsonObject } from "../core/json.ts";
import { isObject, parseJson } from "../core/json.ts";

export type GoogleKey = ServiceAccount | AuthorizedUser;

export interface ServiceAccount {
  readonly type: "service_account";
  readonly clientEmail: string;
  /** PEM. */
  readonly privateKey: string;
  readonly privateKeyId?: string;
  readonly tokenUri: string;
  readonly project?: string;
}

export interface AuthorizedUser {
  readonly type: "authorized_user";
  readonly clientId: string;
  readonly clientSecret: string;
  readonly refreshToken: string;
  readonly tokenUri: string;
  /** The project whose quota the calls use. */
  readonly quotaProject?: string;
}

const TOKEN_URI = "https://oauth2.googleapis.com/token";

/** @throws Error for a file that cannot be read or is no such key; the message contains no part of the key */
export function readGoogleKey(path: string): GoogleKey {
  const found = parseJson(readFileSync(path, "utf8"));
  const file = isObject(found) ? found : {};
  const read = (name: string) => textIn(file, name) ?? fail(`${path} has no ${name}`);
  const tokenUri = textIn(file, "token_uri") ?? TOKEN_URI;
  if (file["type"] === "service_account")
    return {
      type: "service_account",
      clientEmail: read("client_email"),
      privateKey: read("private_key"),
      privateKeyId: textIn(file, "private_key_id"),
      tokenUri,
      project: textIn(file, "project_id"),
    };
  if (file["type"] === "authorized_user")
    return {
      type: "authorized_user",
      clientId: read("client_id"),
      clientSecret: read("client_secret"),
      refreshToken: read("refresh_token"),
      tokenUri,
      quotaProject: textIn(file, "quota_project_id"),
    };
  return fail(`${path} is neither the key of a service account nor a file of gcloud`);
}

/** The key of a file; undefined if it cannot be used. */
export function findGoogleKey(path: string | undefined): GoogleKey | undefined {
  if (!path) return undefined;
  try {
    return readGoogleKey(path);
  } catch {
    return undefined;
  }
}

/** The path of the key file: what `GOOGLE_APPLICATION_CREDENTIALS` names, else where gcloud puts it; undefined without a home. */
export function googleKeyPath({ env }: Pick<Surroundings, "env">): string | undefined {
  const named = env["GOOGLE_APPLICATION_CREDENTIALS"]?.trim();
  if (named) return named;
  const { CLOUDSDK_CONFIG, HOME, APPDATA } = env;
  const folder =
    CLOUDSDK_CONFIG ?? (APPDATA ? join(APPDATA, "gcloud") : HOME && join(HOME, ".config/gcloud"));
  return folder ? join(folder, "application_default_credentials.json") : undefined;
}

function textIn(file: JsonObject, name: string): string | undefined {
  const value = file[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function fail(sentence: string): never {
  throw new Error(`${sentence}.`);
}
