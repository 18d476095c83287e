import { Badge, Group, Paper, Skeleton, Stack, Text, Title } from "@mantine/core";
import { ListTable } from "../shared/list-table.tsx";
import { Waiting } from "../shared/live/waiting.tsx";
import { refusalInWords, warningOf } from "./refusal-words.ts";
import {
  interfacesIn,
  isUnused,
  publishedFrom,
  type ShownAddress,
  type ShownInterface,
  type WireReport,
} from "./report.ts";
import { Sparkline } from "./sparkline.tsx";
import type { Rate } from "./traffic.ts";
import { useTraffic } from "./use-traffic.ts";
import "./interfaces.css";

/** This machine's current interfaces, and which addresses an updater would use. */
export function InterfacePage({ report, sees }: { readonly report: WireReport | undefined; readonly sees: boolean }) {
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="baseline">
        <Title order={1}>Interfaces</Title>
        <a href="/console/ca.pem" download="moor-ca.pem" style={{ fontSize: "0.875rem" }}>
          Download the certificate for clients
        </a>
      </Group>
      {sees ? <Interfaces report={report} /> : <NoPrivilege />}
    </Stack>
  );
}

const NoPrivilege = () => (
  <p>
    Viewing the interfaces needs the privilege <b>interface-status</b>. Ask an administrator for it.
  </p>
);

function Interfaces({ report }: { readonly report: WireReport | undefined }) {
  const traffic = useTraffic();
  if (report === undefined)
    return (
      <Waiting>
        <Skeleton h={240} />
      </Waiting>
    );
  const all = interfacesIn(report, traffic?.last.defaultRoutes);
  const one = (each: ShownInterface) => (
    <OneInterface key={each.device} shown={each} rates={traffic?.rates[each.device] ?? []} />
  );
  const [loopback, others] = [all.filter((each) => each.isLoopback), all.filter((each) => !each.isLoopback)];
  const folded = (title: string, those: readonly ShownInterface[]) =>
    those.length > 0 && (
      <details className="folded">
        <summary className="quiet">
          {title} ({those.map(({ device }) => device).join(", ")})
        </summary>
        <Stack gap="sm">{those.map(one)}</Stack>
      </details>
    );
  return (
    <>
      <ToPublish interfaces={all} />
      {others.filter((each) => !isUnused(each)).map(one)}
      {folded("Not in use", others.filter(isUnused))}
      {folded("Loopback", loopback)}
    </>
  );
}

/** What most people come for. */
function ToPublish({ interfaces }: { readonly interfaces: readonly ShownInterface[] }) {
  const addresses = publishedFrom(interfaces);
  return (
    <section aria-labelledby="to-publish" className="to-publish">
      <h2 id="to-publish">An updater would publish</h2>
      {addresses.length === 0 && <p className="warn">nothing: no interface has an address that can be used</p>}
      {addresses.map(({ family, text, device }) => {
        const warning = warningOf(text);
        return (
          <p key={family}>
            <b className="mono">{text}</b>{" "}
            <span className="quiet">
              ({family === "ipv4" ? "A" : "AAAA"}) of {device}
            </span>
            {warning && <span className="warn"> – {warning}</span>}
          </p>
        );
      })}
    </section>
  );
}

const tones = { up: "good", "no carrier": "warn", down: "bad" } as const;

function OneInterface({ shown, rates }: { readonly shown: ShownInterface; readonly rates: readonly Rate[] }) {
  const { device, state, isFollowed, wire, addresses } = shown;
  const unused = isUnused(shown);
  const facts = [
    wire.macaddr && wire.macaddr !== "00:00:00:00:00:00" && wire.macaddr,
    wire.mtu && `MTU ${wire.mtu}`,
    wire.vlan && `VLAN ${wire.vlan.tag}${wire.vlan.parent ? ` on ${wire.vlan.parent}` : ""}`,
    wire.media,
  ].filter(Boolean);
  return (
    <Paper
      withBorder
      p="sm"
      component="section"
      aria-label={device}
      className={unused ? "card" : `card link-${state.replace(" ", "-")}`}
    >
      <div className="interface-head">
        <Title order={2} className="mono" style={{ fontSize: "1rem" }}>
          {device}
        </Title>
        <span className={`state ${unused ? "quiet" : tones[state]}`}>
          <span className="dot" aria-hidden /> {state}
        </span>
        {isFollowed && (
          <Badge variant="light" size="sm" tt="none">
            default route
          </Badge>
        )}
        <Text size="xs" c="dimmed">
          {facts.join(" · ")}
        </Text>
        {state === "up" && <Sparkline device={device} rates={rates} />}
      </div>
      {addresses.length === 0 ? (
        <Text size="sm" c="dimmed">
          no addresses
        </Text>
      ) : (
        <ListTable className="list thirds" heads={["Address", "Type", "Used by the updater?"]}>
          {addresses.map(({ text, bits, family, verdict }) => (
            <tr key={`${family} ${text}`}>
              <td className="mono">
                <span>
                  {text}
                  {bits !== undefined && <span className="quiet">/{bits}</span>}
                </span>
              </td>
              <td data-label="Type">{family === "ipv4" ? "A" : "AAAA"}</td>
              <td data-label="Updater" className={toneOf(text, verdict)}>
                {verdict === "taken" ? "✓ " : "– "}
                {refusalInWords(text, verdict)}
              </td>
            </tr>
          ))}
        </ListTable>
      )}
    </Paper>
  );
}

function toneOf(text: string, verdict: ShownAddress["verdict"]): "good" | "warn" | "quiet" {
  if (verdict !== "taken") return "quiet";
  return warningOf(text) ? "warn" : "good";
}
