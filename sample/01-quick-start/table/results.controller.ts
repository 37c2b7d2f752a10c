import { Body, Controller, Get, NotFoundException, Param, Put } from '@nestjs/common';
import { ResultsTable, type ResultRow } from './results.table.js';

/** The table over HTTP, so that replicas in processes of their own reach the same one. A refused token is answered 409 by itself. */
@Controller('results')
export class ResultsController {
  constructor(private readonly table: ResultsTable) {}

  @Put(':job')
  save(@Param('job') job: string, @Body() row: ResultRow): Promise<void> {
    return this.table.save(job, row);
  }

  @Get(':job')
  find(@Param('job') job: string): ResultRow {
    const row = this.table.find(job);
    if (row === undefined) throw new NotFoundException(`Job ${job} has no result yet.`);
    return row;
  }
}
