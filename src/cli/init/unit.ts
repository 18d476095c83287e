import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { CommandIo } from "../io/command-io.ts";
import type { Asker } from "./asker.ts";

/** Offers a systemd unit for the current user; the one for the whole machine is in packaging/systemd. */
export async function offerUnit(
  config: string,
  cliPath: string | undefined,
  asker: Asker,
  io: CommandIo,
): Promise<string | undefined> {
  const configFolder = io.env.XDG_CONFIG_HOME ?? (io.env.HOME && join(io.env.HOME, ".config"));
  const usual = configFolder ? join(configFolder, "systemd", "user", "moor-update.service") : undefined;
  if (cliPath === undefined) {
    if (!io.isTerminal || usual === undefined) return undefined;
    const message = `Write a systemd unit for your user (${usual})?`;
    if (!(await asker.yes({ flag: "--unit FILE", cliValue: cliPath, message, assumed: false }))) return undefined;
  }
  const file = cliPath === undefined ? usual : resolve(io.cwd, cliPath);
  if (file === undefined) return undefined;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, printUnit(config, io));
  return file;
}

function printUnit(config: string, { script, program }: CommandIo): string {
  // systemd does not accept quotes or backslashes in the path of the executable, so the executable is `env`.
  const command = `/usr/bin/env ${script === undefined ? program : unitWord(script)}`;
  return `# systemctl --user daemon-reload && systemctl --user enable --now moor-update
# loginctl enable-linger     keeps it running while you are not logged in
[Unit]
Description=moor: keeps DNS names pointing at their addresses
After=network-online.target

[Service]
Type=notify
NotifyAccess=all
WatchdogSec=10min
ExecStart=${command} update --config ${unitWord(config)}
SyslogIdentifier=moor-update
ExecReload=/bin/sh -c 'kill -HUP $MAINPID'
Restart=on-failure
RestartSec=5s
RestartPreventExitStatus=2
UMask=0077
NoNewPrivileges=true
ProtectSystem=strict
ReadWritePaths=${unitPath(dirname(config))} -%C/moor
PrivateTmp=true

[Install]
WantedBy=default.target
`;
}

/** Only commands in a unit expand variables. */
const unitWord = (text: string): string => unitPath(text).replaceAll("$", "$$$$");

/** systemd.syntax(7), "Quoting", and systemd.unit(5), "Specifiers". */
const unitPath = (text: string): string => `"${text.replaceAll(/["\\]/g, "\\$&").replaceAll("%", "%%")}"`;
