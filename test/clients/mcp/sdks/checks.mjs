// The six checks of a client, for both libraries in JavaScript. Prints a line of JSON for each.

/** @param {string} check @param {() => Promise<unknown>} run returns true, or what it saw instead */
async function check(check, run) {
  let saw;
  try {
    saw = await run();
  } catch (error) {
    saw = String(error);
  }
  console.log(JSON.stringify({ check, ok: saw === true, ...(saw !== true && { saw }) }));
}

const textOf = (result) => result.content?.[0]?.text ?? JSON.stringify(result);

export async function checkAll(mark, { list, call }) {
  await check("list", async () => {
    const names = (await list()).tools
      .map(({ name }) => name)
      .sort()
      .join();
    return names === "ask,count,echo,fail,slow" || names;
  });
  await check("call", async () => {
    const said = textOf(await call("echo", { text: `ü ${mark}` }));
    return said === `echo: ü ${mark}` || said;
  });
  await check("progress", async () => {
    const seen = [];
    const onprogress = ({ progress, total }) => void seen.push(`${progress}/${total}`);
    const said = textOf(await call("count", { to: 3 }, { onprogress }));
    return `${seen.join()} ${said}` === "1/3,2/3,3/3 counted" || `${seen.join()} ${said}`;
  });
  await check("elicitation", async () => {
    const said = textOf(await call("ask", {}));
    return said === "hello Anna" || said;
  });
  await check("cancel", async () => {
    const signal = AbortSignal.timeout(500);
    const ended = await call("slow", { mark }, { signal }).then(textOf, () => true);
    return signal.aborted ? ended : `ended before it was cancelled: ${ended}`;
  });
  // The server must notice that while the client is still there.
  console.log(JSON.stringify({ cancelled: Date.now() }));
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  await check("error", async () => {
    const result = await call("fail", {});
    return (result.isError === true && textOf(result).includes("it failed")) || JSON.stringify(result);
  });
}
