/** One name for gateway and people: nginx with the blocks of its page in front of both listeners. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { blocksOf } from "../../../../test/helpers/documents.ts";
import { nginx, startNginx } from "../../../../test/helpers/nginx.ts";
import { freePort, until } from "../../../../test/helpers/serving.ts";
import { oauth } from "./support/programs.ts";
import { callWith, press, signedIn, startSigning } from "./support/signing-gateway.ts";

setDefaultTimeout(120_000);

const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

test("people sign in, and programs get tokens, at one name behind nginx", async () => {
  if (!nginx) return console.log("nginx was not tried: it is not installed.");
  const [port, admin, gateway] = [freePort(), freePort(), freePort()];
  const beside = blocksOf(".github/deploy/proxies.md")
    .find(({ language }) => language === "nginx")!
    .code.replace("127.0.0.1:9348", `127.0.0.1:${admin}`);
  const proxy = startNginx([gateway, gateway], false, { port, beside });
  const world = await startSigning({ url: proxy.url, ports: { admin, gateway } });
  try {
    const isUp = async () => (await fetch(`${proxy.url}/auth/`, { redirect: "manual" })).status === 200;
    expect(await until(isUp)).toBe(true);
    const browser = await signedIn({ admin: proxy.url, provider: world.provider });
    const { body } = await oauth(`${proxy.url}/oauth/device_authorization`, { client_id: "weir-cli" });
    expect(body.verification_uri).toBe(`${proxy.url}/device`);
    expect(await (await press(browser, `/device?user_code=${body.user_code}`, "allow")).text()).toContain(
      "Connected",
    );
    const polled = await oauth(`${proxy.url}/oauth/token`, {
      grant_type: DEVICE_GRANT,
      device_code: body.device_code!,
    });
    expect(await callWith({ gateway: proxy }, polled.body.access_token!)).toBe(200);
    expect((await browser.go("/console/me")).status).toBe(200);
    expect((await browser.go("/console")).status).toBe(200);
    expect((await fetch(`${proxy.url}/.well-known/oauth-authorization-server`)).status).toBe(200);
  } finally {
    await world.stop();
    await proxy.stop();
  }
});
