import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { CommandIo } from "./command-io.ts";
import type { Asker } from "./init-asker.ts";

/** Offers a systemd unit for the user who runs this; the one for the whole machine is in packaging/systemd. */
export async function offerUnit(
  config: string,
  given: string | undefined,
  asker: Asker,
  io: CommandIo,
): Promise<string | undefined> {
  const home = io.env.XDG_CONFIG_HOME ?? (io.env.HOME && join(io.env.HOME, ".config"));
  const usual = home ? join(home, "systemd", "user", "moor-update.service") : undefined;
  if (given === undefined) {
    if (!io.isTerminal || usual === undefined) return undefined;
    const message = `Write a systemd unit for you (${usual})?`;
    if (!(await asker.yes({ flag: "--unit FILE", given, message, assumed: false }))) return undefined;
  }
  const file = given === undefined ? usual : resolve(io.cwd, given);
  if (file === undefined) return undefined;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, printUnit(config, io));
  return file;
}

function printUnit(config: string, { program, cwd }: CommandIo): string {
  const command = program.includes("/") ? resolve(cwd, program) : `/usr/bin/env ${program}`;
  return `# systemctl --user daemon-reload && systemctl --user enable --now moor-update
# loginctl enable-linger     lets it run while nobody is logged in
[Unit]
Description=moor: keeps DNS names at their addresses
After=network-online.target

[Service]
Type=notify
NotifyAccess=all
WatchdogSec=10min
ExecStart=${command} update --config "${config}"
SyslogIdentifier=moor-update
ExecReload=/bin/sh -c 'kill -HUP $MAINPID'
Restart=on-failure
RestartSec=5s
RestartPreventExitStatus=2
UMask=0077
NoNewPrivileges=true
ProtectSystem=strict
ReadWritePaths="${dirname(config)}" -%C/moor
PrivateTmp=true

[Install]
WantedBy=default.target
`;
}
