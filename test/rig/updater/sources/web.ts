import type { SourceFault, SourceRig } from "../source-suite.ts";
import { type EchoService, printed, says, startEchoService } from "./echo-services.ts";

/** Three services that report the same address, each in its format. */
export async function startWeb(): Promise<SourceRig> {
  const echoes = await Promise.all([1, 2, 3].map(startEchoService));
  let waiting = 0;
  const all = (answer: EchoService["answer"]["ipv4"]) => {
    for (const echo of echoes) echo.answer = { ipv4: answer, ipv6: answer };
  };
  const fault = (title: string, answer: EchoService["answer"]["ipv4"], because: RegExp): SourceFault => ({
    ...{ title, because, begin: () => all(answer) },
  });
  const urls = echoes.flatMap((echo) => echo.urls).map((url) => `"${url}"`);
  return {
    entry: (timeout) => `{ kind: web, services: [${urls.join(", ")}], timeout: ${timeout} }`,
    device: "internet",
    async say({ ipv4, ipv6 }) {
      // A caller has one address.
      if (ipv4.length > 1 || ipv6.length > 1) return false;
      // Blanks around it are not part of it.
      if ([...ipv4, ...ipv6].some((text) => text !== text.trim())) return false;
      for (const [at, echo] of echoes.entries()) {
        await echo.resume();
        echo.answer = { ipv4: printed(ipv4[0] ?? "", at), ipv6: printed(ipv6[0] ?? "", at) };
      }
      return true;
    },
    faults: [
      {
        title: "is not there",
        begin: async () => void (await Promise.all(echoes.map((echo) => echo.pause()))),
        because: /nothing is listening/,
      },
      {
        title: "disagrees",
        because: /2 of 3 must agree on one IPv4 address: .*said 8.8.8.1.*2 of 3 must agree on one IPv6 address/,
        begin() {
          for (const [at, echo] of echoes.entries())
            echo.answer = { ipv4: says(`8.8.8.${at}`), ipv6: says(`2a00::${at}`) };
        },
      },
      fault("answers with a page", says("<html>thesecret"), /answered "<html>thesecret", which is not an IPv4 address/),
      fault("answers nothing", says(""), /answered with an empty body/),
      fault("fails", says("9.9.9.9", 500), /answered 500/),
      fault("redirects", says("9.9.9.9", 302, { location: "/" }), /answered 302/),
      fault("never stops", says("9".repeat(5 * 1024 * 1024)), /more than 4 MiB/),
      fault("resets the connection", (response) => response.destroy(), /closed the connection/),
      { ...fault("is slow", () => undefined, /within 1 s/), isSlow: true },
    ],
    stall: () =>
      all(() => {
        waiting += 1;
      }),
    stalled: () => waiting,
    open: () => echoes.reduce((sum, echo) => sum + echo.open(), 0),
    close: async () => void (await Promise.all(echoes.map((echo) => echo.pause()))),
  };
}
