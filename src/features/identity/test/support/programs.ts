/** What programs of people send and read. */

/** Members of answers of the authorization server. */
export interface OAuthBody {
  error?: string;
  error_description?: string;
  device_code?: string;
  user_code?: string;
  verification_uri?: string;
  verification_uri_complete?: string;
  expires_in?: number;
  interval?: number;
  access_token?: string;
  refresh_token?: string;
  token_type?: string;
  scope?: string;
  email?: string;
  client_id?: string;
  token_endpoint_auth_method?: string;
}

export async function oauth(url: string, form: Record<string, string>) {
  const answer = await fetch(url, { method: "POST", body: new URLSearchParams(form) });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    body: (text === "" ? {} : JSON.parse(text)) as OAuthBody,
  };
}

/** A verifier and its challenge (RFC 7636, S256). */
export function pkce() {
  const verifier = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
  return { verifier, challenge: new Bun.CryptoHasher("sha256").update(verifier).digest("base64url") };
}

/** The form of a page that is sent by POST. */
export function formIn(html: string): { action: string; fields: Record<string, string> } {
  const form = /<form method="post" action="([^"]*)">(.*?)<\/form>/s.exec(html);
  if (!form) throw new Error(`no form: ${html.slice(0, 2_000)}`);
  const fields = [...form[2]!.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  return {
    action: form[1]!,
    fields: Object.fromEntries(fields.map(([, name, value]) => [name!, unescaped(value!)])),
  };
}

const unescaped = (text: string) =>
  text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
