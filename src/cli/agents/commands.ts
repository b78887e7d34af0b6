import { type AnyCommand, command, text } from "../program/command.ts";

const AGENT = { name: "AGENT", summary: "The id of an agent, like local.acme.triage." } as const;
const PACK = {
  name: "PACK",
  summary: "A folder with a pack.json, or an archive of one: .tar, .tar.gz or .tgz.",
} as const;

const agents = () => import("./agents.ts");
const packs = () => import("./packs.ts");

export const SIGN_AGENT_FLAGS = {
  key: text("FILE", "An Ed25519 private key in PEM."),
};

export const AGENT_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "agent list",
    summary: "List the agents of a server that this key can see.",
    examples: ["assay agent list"],
    load: async () => (await agents()).agentList,
  }),
  command({
    name: "agent show",
    summary: "Show an agent of a server and its versions.",
    args: [AGENT],
    examples: ["assay agent show local.acme.triage"],
    load: async () => (await agents()).agentShow,
  }),
  command({
    name: "agent validate",
    summary: "Check packs of agents, and list everything that is wrong with them.",
    about:
      "Prompts, schemas and suites that a pack refers to are read as at its installation. Whether a host trusts the signature of the pack " +
      "and serves what the pack needs can only be checked by that host. Needs no server.",
    args: [{ ...PACK, many: true }],
    settings: [],
    examples: ["assay agent validate packs/triage", "assay agent validate dist/triage-1.2.0.tgz"],
    exits: { 0: "there is no problem", 2: "there is at least one problem, or a pack cannot be read" },
    load: async () => (await packs()).agentValidate,
  }),
  command({
    name: "agent install",
    summary: "Install a pack of agents on a server, for the tenant of the key.",
    about:
      "A pack that is installed never changes: to change an agent, raise the version of its pack. A server takes packs " +
      "that one of its publisher keys signed, and others only when it was started with --allow-unsigned. With `assay serve --packs` packs " +
      "are installed for every tenant.",
    args: [PACK],
    examples: ["assay agent install packs/triage", "assay agent install dist/triage-1.2.0.tgz"],
    exits: { 2: "the pack was refused, or cannot be read", 3: "the key may not install, or the pack is not trusted" },
    load: async () => (await packs()).agentInstall,
  }),
  command({
    name: "agent sign",
    summary: "Sign a pack of agents: write pack.files.sig next to its pack.json.",
    about:
      "The signature covers every other file of the pack, by name and content. Make a key with openssl genpkey -algorithm ed25519 " +
      "-out publisher.pem, and give its public half (openssl pkey -in publisher.pem -pubout) to those who run hosts. Needs no server.",
    args: [{ name: "DIR", summary: "The folder of the pack." }],
    flags: SIGN_AGENT_FLAGS,
    settings: [],
    examples: ["assay agent sign packs/triage --key publisher.pem"],
    exits: { 2: "the pack is not valid, or the file holds no Ed25519 private key" },
    load: async () => (await packs()).agentSign,
  }),
];
