import { z } from '@hono/zod-openapi';
import { readJson } from '../body.ts';
import { KeyList, keys } from '../methods/keys.ts';
import { VerifyParams, VerifyResult, verify } from '../methods/verify.ts';
import { callOf, json, type Route, responses } from '../route.ts';
import { ServiceStatus } from '../service-status.ts';

export const keysRoute: Route = {
  scope: 'read',
  config: {
    method: 'get',
    path: '/v1/keys',
    summary: keys.summary,
    responses: { 200: json('Keys', KeyList) },
  },
  handle: async (c, context) => c.json(await keys.invoke({}, callOf(c, context))),
};

export const verifyRoute: Route = {
  scope: 'read',
  config: {
    method: 'post',
    path: '/v1/verify',
    summary: verify.summary,
    request: {
      body: { required: true, content: { 'application/json': { schema: VerifyParams } } },
    },
    responses: responses({ 200: json('Whether it is valid', VerifyResult) }, [
      'ERR_PARAMS',
      'ERR_TOO_LARGE',
      'ERR_MEDIA_TYPE',
      ...verify.errors,
    ]),
  },
  handle: async (c, context) => c.json(await verify.invoke(await readJson(c), callOf(c, context))),
};

export const statusRoute: Route = {
  scope: 'read',
  config: {
    method: 'get',
    path: '/status',
    summary: 'How the service does, for monitors; fields of cuzk keep their names',
    responses: { 200: json('Status', ServiceStatus) },
  },
  handle: (c, { status }) => c.json(status.report()),
};

export const liveRoute: Route = {
  scope: 'anyone',
  config: {
    method: 'get',
    path: '/health/live',
    summary: 'Whether the service answers',
    responses: { 200: json('It does', z.object({ status: z.literal('live') })) },
  },
  handle: (c) => c.json({ status: 'live' }),
};

const NotReady = z.object({ status: z.literal('not ready'), reason: z.string() });

export const readyRoute: Route = {
  scope: 'anyone',
  config: {
    method: 'get',
    path: '/health/ready',
    summary: 'Whether the service can accept a job',
    responses: {
      200: json('It can', z.object({ status: z.literal('ready') })),
      503: json('It cannot, and why', NotReady),
    },
  },
  handle(c, { status }) {
    const reason = status.unreadyReason();
    if (reason === undefined) return c.json({ status: 'ready' });
    return c.json({ status: 'not ready', reason }, 503, { 'retry-after': '5' });
  },
};

function documentRoute(name: 'openapi' | 'openrpc'): Route {
  return {
    scope: 'read',
    config: {
      method: 'get',
      path: `/${name}.json`,
      summary: name === 'openapi' ? 'This document' : 'The OpenRPC document of POST /rpc',
      responses: { 200: json('The document', z.looseObject({ [name]: z.string() })) },
    },
    handle: (c, { documents }) => c.json(documents[name]),
  };
}

export const openapiRoute = documentRoute('openapi');
export const openrpcRoute = documentRoute('openrpc');
