/** The cookies of a sign-in. */

export interface CookieNames {
  readonly session: string;
  readonly login: string;
  /** The browser sends them over TLS only. */
  readonly isSecure: boolean;
}

/** Browsers refuse `__Host-` and `Secure` without TLS, in part also on this machine. @param url public address */
export function cookieNames(url: string): CookieNames {
  const isSecure = url.startsWith("https:");
  const prefix = isSecure ? "__Host-" : "";
  return { session: `${prefix}weir-session`, login: `${prefix}weir-login`, isSecure };
}

/** The value of a cookie. Two cookies with one name are none: another host has set one of them. */
export function cookieIn(headers: Headers, name: string): string | undefined {
  const found = (headers.get("cookie") ?? "").split(";").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

/** The value of `set-cookie`. `Lax`, because the way back from the provider comes from another site. */
export function setCookie({ isSecure }: CookieNames, name: string, value: string, seconds: number): string {
  return `${name}=${value}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
}
