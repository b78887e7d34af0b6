import { type ToolGateway, toolGateway } from "../../agents/gateway/tool-gateway.ts";
import type { McpTools } from "../../agents/tools/mcp-tools.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Config } from "../settings/settings.ts";

/** The tool gateway of this process; its server starts with the first invocation that needs it. Throws `unusable_input`. */
export function configuredGateway({ toolsUrl, toolsPort }: Pick<Config, "toolsUrl" | "toolsPort">): ToolGateway {
  return toolGateway({ port: toolsPort, ...(toolsUrl === undefined ? {} : { remoteUrl: checkedUrl(toolsUrl) }) });
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (url === undefined || !isHttp || url.username !== "" || url.search !== "" || url.hash !== "") {
    const form = "an http or https URL without user name, query and fragment, like https://assay.example/tools";
    throw new AppError("unusable_input", { problem: `--tools-url must be ${form}` });
  }
  return url.href.replace(/\/+$/, "");
}

/** The tools, whose end is that of the gateway too: no call reaches a tool that is ending. */
export function withGateway(tools: McpTools, gateway: ToolGateway): McpTools {
  return {
    toolsFor: tools.toolsFor,
    async close() {
      await gateway.close();
      await tools.close();
    },
  };
}
