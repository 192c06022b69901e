/** Reads and checks the certificates for listening and for TLS connections to providers. */
import type { KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describeFileError } from "../core/system-error.ts";
import type { TlsSettings } from "../core/provider.ts";
import { Secret } from "../core/secret.ts";
import { ConfigError, type Path } from "./error.ts";

/** Paths of PEM files. */
export interface TlsFiles {
  /** The certificate, followed by its intermediate certificates. */
  cert: string;
  /** The certificate's private key, not encrypted. */
  key: string;
}

/** The contents of the files, as PEM. */
export interface Certificate {
  cert: string;
  key: Secret;
}

/** Paths of PEM files for the connections to a provider. */
export interface UpstreamTlsFiles extends Partial<TlsFiles> {
  /** Certificate authorities that are trusted to sign the provider's certificate. */
  ca?: string;
}

/** A fault in one of the files: the option, and a clause that states the fault. Never contains a file's content. */
export class TlsFault extends Error {
  readonly option: keyof UpstreamTlsFiles;

  constructor(option: keyof UpstreamTlsFiles, clause: string) {
    super(`${option} ${clause}`);
    this.option = option;
  }
}

/** @throws TlsFault when a file cannot be read or parsed, or the key does not belong to the certificate. */
export function readCertificate(files: TlsFiles): Certificate {
  const cert = readText("cert", files.cert);
  const key = readText("key", files.key);
  const certificate = parseCertificate("cert", cert, files.cert);
  if (!certificate.checkPrivateKey(parseKey(key, files.key)))
    throw new TlsFault(
      "key",
      `must be the private key of the certificate ${files.cert}, but belongs to another one`,
    );
  return { cert, key: new Secret(key) };
}

/**
 * The certificate for listening.
 * @returns undefined without one
 * @throws TlsFault as {@link readCertificate}; Error if weir was to make the files and has not
 */
export function certificateOf({
  tls: { issuer, cert, key },
}: {
  tls: ListeningTls;
}): Certificate | undefined {
  // To listen in plain text would be worse than not to listen.
  if (issuer !== undefined && cert === undefined)
    throw new Error("the certificate of tls.issuer is not made; start the gateway with weir serve");
  return cert === undefined || key === undefined ? undefined : readCertificate({ cert, key });
}

export function isSameCertificate(one: Certificate, other: Certificate): boolean {
  return one.cert === other.cert && one.key.digest() === other.key.digest();
}

/**
 * The contents of the files for the connections to a provider, as PEM.
 * @throws TlsFault as {@link readCertificate}, and when only one of `cert` and `key` is set
 */
export function readUpstreamTls({ ca, cert, key }: UpstreamTlsFiles): TlsSettings {
  if (cert !== undefined && key === undefined) throw new TlsFault("key", "is missing; cert needs it");
  if (key !== undefined && cert === undefined) throw new TlsFault("cert", "is missing; key needs it");
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
    return new (nodeCrypto().X509Certificate)(pem);
  } catch {
    throw new TlsFault(option, `must be a PEM file with a certificate, but ${path} contains none`);
  }
}

function parseKey(pem: string, path: string): KeyObject {
  if (pem.includes("ENCRYPTED")) throw new TlsFault("key", `must not be encrypted, but ${path} is`);
  try {
    return nodeCrypto().createPrivateKey(pem);
  } catch {
    throw new TlsFault("key", `must be a PEM file with a private key, but ${path} contains none`);
  }
}

/** Loaded by the first certificate: most gateways have none. */
function nodeCrypto(): typeof import("node:crypto") {
  return process.getBuiltinModule("node:crypto");
}

/** Where the certificate for listening comes from. */
export interface ListeningTls extends Partial<TlsFiles> {
  /** weir makes the files itself when it starts. */
  issuer?: "self";
}

/** The certificate files with absolute paths. @throws ConfigError when they cannot be read or do not fit together */
export function settleTls(
  { issuer, cert, key }: ListeningTls,
  folder: string,
  locate: (path: Path) => string,
): ListeningTls {
  if (issuer !== undefined) {
    const other = cert !== undefined ? "cert" : key !== undefined ? "key" : undefined;
    if (other === undefined) return { issuer };
    const path = ["tls", other];
    throw new ConfigError(locate(path), `tls has ${other} or issuer, and not both`, path);
  }
  if (cert === undefined && key === undefined) return {};
  if (cert === undefined || key === undefined) {
    const path = ["tls", cert === undefined ? "key" : "cert"];
    throw new ConfigError(locate(path), "tls must have both cert and key", path);
  }
  const files = { cert: resolve(folder, cert), key: resolve(folder, key) };
  assertReadable(() => readCertificate(files), ["tls"], locate);
  return files;
}

/** The providers with absolute paths of their certificate files. @throws ConfigError when one cannot be read */
export function settleProviders<Options extends { tls?: Record<string, string> }>(
  providers: Readonly<Record<string, Options>>,
  folder: string,
  locate: (path: Path) => string,
): Record<string, Options> {
  const settled: Record<string, Options> = { ...providers };
  for (const [name, { tls, ...options }] of Object.entries(providers)) {
    if (tls === undefined) continue;
    const files = Object.fromEntries(
      Object.entries(tls).map(([option, path]) => [option, resolve(folder, path)]),
    );
    assertReadable(() => readUpstreamTls(files), ["providers", name, "tls"], locate);
    settled[name] = { ...options, tls: files } as Options;
  }
  return settled;
}

function assertReadable(read: () => unknown, group: Path, locate: (path: Path) => string): void {
  try {
    read();
  } catch (fault) {
    if (!(fault instanceof TlsFault)) throw fault;
    const path = [...group, fault.option];
    throw new ConfigError(locate(path), fault.message, path);
  }
}
