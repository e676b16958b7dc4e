import { Body, Controller, Get, Post, Query, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { RouteSetting } from '#libs/server';
import { Public } from '../auth/tenant.js';
import { answerOf, holdsAnswer } from './callback-answer.js';
import { LIFT_SCRIPT, liftPage, outcomePage, PAGE_HEADERS, SCRIPT_HEADERS } from './callback-page.js';
import { CallbackService, type CallbackResult } from './callback.service.js';

/** Where banks send the user's browser back to. Browsers have no credentials, so the routes are public. */
@ApiExcludeController()
@Public()
@Controller()
export class CallbackController {
  constructor(private readonly callback: CallbackService) {}

  /** An answer in the query is handled at once; otherwise it is in the fragment, which only the browser can see. */
  @Get('callback')
  async arrive(@Query() query: unknown, @Res() reply: FastifyReply): Promise<void> {
    const answer = answerOf(query);
    if (holdsAnswer(answer)) return this.finish(answer, reply);
    await reply.status(200).headers(PAGE_HEADERS).send(liftPage());
  }

  @Post('callback')
  @RouteSetting({ takesForms: true })
  lifted(@Body() body: unknown, @Res() reply: FastifyReply): Promise<void> {
    return this.finish(answerOf(body), reply);
  }

  @Get('callback.js')
  async script(@Res() reply: FastifyReply): Promise<void> {
    await reply.status(200).headers(SCRIPT_HEADERS).send(LIFT_SCRIPT);
  }

  private async finish(answer: URLSearchParams, reply: FastifyReply): Promise<void> {
    const result = await this.callback.answer(answer);
    await leave(result, reply);
  }
}

async function leave(result: CallbackResult, reply: FastifyReply): Promise<void> {
  if ('page' in result) {
    await reply
      .status(result.page === 'unknown' ? 400 : 200)
      .headers(PAGE_HEADERS)
      .send(outcomePage(result.page));
    return;
  }
  const { 'content-type': _html, ...headers } = PAGE_HEADERS;
  await reply
    .status(303)
    .headers({ ...headers, location: result.redirect })
    .send();
}
