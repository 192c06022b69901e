/** The certificates the gateway listens with, and those for its TLS connections to a provider. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { describeFileError } from "../core/system-error.ts";
import type { TlsSettings } from "../core/provider.ts";
import { Secret } from "../core/secret.ts";

/** Paths of PEM files. */
export interface TlsFiles {
  /** The certificate, those of its issuers behind it. */
  cert: string;
  /** Its private key, not encrypted. */
  key: string;
}

/** What the files hold, as PEM. */
export interface Certificate {
  cert: string;
  key: Secret;
}

/** Paths of PEM files for the connections to a provider. */
export interface UpstreamTlsFiles extends Partial<TlsFiles> {
  /** Authorities that may vouch for the provider's certificate. */
  ca?: string;
}

/** A mistake in one of the files: the option, and a clause that says what is wrong with it. Never repeats a file. */
export class TlsFault extends Error {
  readonly option: keyof UpstreamTlsFiles;

  constructor(option: keyof UpstreamTlsFiles, clause: string) {
    super(`${option} ${clause}`);
    this.option = option;
  }
}

/** @throws TlsFault when a file cannot be read, holds something else, or the key is not that of the certificate. */
export function readCertificate(files: TlsFiles): Certificate {
  const cert = readText("cert", files.cert);
  const key = readText("key", files.key);
  const certificate = parseCertificate("cert", cert, files.cert);
  if (!certificate.checkPrivateKey(parseKey(key, files.key)))
    throw new TlsFault("key", `must be the private key of the certificate ${files.cert}, but is another one`);
  return { cert, key: new Secret(key) };
}

/**
 * What the files for the connections to a provider hold, as PEM.
 * @throws TlsFault as {@link readCertificate}, and when one of `cert` and `key` stands alone
 */
export function readUpstreamTls({ ca, cert, key }: UpstreamTlsFiles): TlsSettings {
  if (cert !== undefined && key === undefined) throw new TlsFault("key", "is missing beside cert");
  if (key !== undefined && cert === undefined) throw new TlsFault("cert", "is missing beside key");
  const authorities = ca === undefined ? undefined : readText("ca", ca);
  if (ca !== undefined && authorities !== undefined) parseCertificate("ca", authorities, ca);
  const own = cert === undefined || key === undefined ? undefined : readCertificate({ cert, key });
  return Object.freeze({
    ...(authorities !== undefined && { ca: authorities }),
    ...(own && { cert: own.cert, key: own.key.reveal() }),
  });
}

function readText(option: keyof UpstreamTlsFiles, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new TlsFault(
      option,
      `must be a PEM file, but ${path} cannot be read (${describeFileError(error)})`,
    );
  }
}

function parseCertificate(option: "ca" | "cert", pem: string, path: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new TlsFault(option, `must be a PEM file with a certificate, but ${path} holds none`);
  }
}

function parseKey(pem: string, path: string): KeyObject {
  if (pem.includes("ENCRYPTED")) throw new TlsFault("key", `must not be encrypted, but ${path} is`);
  try {
    return createPrivateKey(pem);
  } catch {
    throw new TlsFault("key", `must be a PEM file with a private key, but ${path} holds none`);
  }
}
