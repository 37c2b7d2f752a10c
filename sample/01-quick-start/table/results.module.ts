import { Module, type DynamicModule } from '@nestjs/common';
import { ResultsController } from './results.controller.js';
import { ResultsTable } from './results.table.js';

@Module({})
export class ResultsModule {
  static forTable(table: ResultsTable): DynamicModule {
    return { module: ResultsModule, controllers: [ResultsController], providers: [{ provide: ResultsTable, useValue: table }] };
  }
}
