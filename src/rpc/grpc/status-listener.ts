import { createServer, type Server } from 'node:http';

/** A client has this long to send its request. */
const REQUEST_MS_MAX = 5000;
const CONNECTIONS_MAX = 256;

/**
 * Answers `GET /status` to anyone, web pages too, as monitors of cuzk ask for it; nothing else. It
 * stands on a port of its own: the service's other ports keep their tokens.
 */
export function createStatusServer(status: () => Promise<object>): Server {
  const server = createServer(
    { requestTimeout: REQUEST_MS_MAX, headersTimeout: REQUEST_MS_MAX },
    async (request, response) => {
      response.setHeader('connection', 'close');
      if (request.method !== 'GET' || request.url?.startsWith('/status') !== true) {
        response.writeHead(404, { 'content-type': 'text/plain' }).end('404 Not Found\n');
        return;
      }
      const headers = { 'content-type': 'application/json', 'access-control-allow-origin': '*' };
      try {
        const text = JSON.stringify(await status());
        response.writeHead(200, headers).end(text);
      } catch {
        response.writeHead(500, headers).end('{"error":"the status could not be told"}');
      }
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  return server;
}
