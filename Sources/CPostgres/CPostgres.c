// SPDX-License-Identifier: MIT
#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>

#define LIBRARY "libpq.so.5"

/// libpq's functions. Each has the type that the header declares.
static struct {
    bool is_available;
    __typeof__(&PQconninfoParse) conninfoParse;
    __typeof__(&PQconninfoFree) conninfoFree;
    __typeof__(&PQconnectStartParams) connectStartParams;
    __typeof__(&PQconnectPoll) connectPoll;
    __typeof__(&PQsetNoticeReceiver) setNoticeReceiver;
    __typeof__(&PQsetnonblocking) setnonblocking;
    __typeof__(&PQsocket) socket;
    __typeof__(&PQerrorMessage) errorMessage;
    __typeof__(&PQuser) user;
    __typeof__(&PQpass) pass;
    __typeof__(&PQfinish) finish;
    __typeof__(&PQsendQuery) sendQuery;
    __typeof__(&PQconsumeInput) consumeInput;
    __typeof__(&PQisBusy) isBusy;
    __typeof__(&PQflush) flush;
    __typeof__(&PQgetCopyData) getCopyData;
    __typeof__(&PQputCopyData) putCopyData;
    __typeof__(&PQfreemem) freemem;
    __typeof__(&PQgetResult) getResult;
    __typeof__(&PQresultStatus) resultStatus;
    __typeof__(&PQresultErrorMessage) resultErrorMessage;
    __typeof__(&PQresultErrorField) resultErrorField;
    __typeof__(&PQntuples) ntuples;
    __typeof__(&PQnfields) nfields;
    __typeof__(&PQgetisnull) getisnull;
    __typeof__(&PQgetvalue) getvalue;
    __typeof__(&PQclear) clear;
} pq;

#define FIND(name) \
    if (!(pq.name = (__typeof__(pq.name))dlsym(library, "PQ" #name))) return

static void load(void) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    FIND(conninfoParse);
    FIND(conninfoFree);
    FIND(connectStartParams);
    FIND(connectPoll);
    FIND(setNoticeReceiver);
    FIND(setnonblocking);
    FIND(socket);
    FIND(errorMessage);
    FIND(user);
    FIND(pass);
    FIND(finish);
    FIND(sendQuery);
    FIND(consumeInput);
    FIND(isBusy);
    FIND(flush);
    FIND(getCopyData);
    FIND(putCopyData);
    FIND(freemem);
    FIND(getResult);
    FIND(resultStatus);
    FIND(resultErrorMessage);
    FIND(resultErrorField);
    FIND(ntuples);
    FIND(nfields);
    FIND(getisnull);
    FIND(getvalue);
    FIND(clear);
    pq.is_available = true;
}

const char *cpq_library(void) { return LIBRARY; }

bool cpq_is_available(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return pq.is_available;
}

PQconninfoOption *cpq_conninfoParse(const char *conninfo, char **message) {
    return pq.conninfoParse(conninfo, message);
}
void cpq_conninfoFree(PQconninfoOption *options) { pq.conninfoFree(options); }
PGconn *cpq_connectStartParams(const char *const *keywords, const char *const *values, int expand_dbname) {
    return pq.connectStartParams(keywords, values, expand_dbname);
}
PostgresPollingStatusType cpq_connectPoll(PGconn *connection) { return pq.connectPoll(connection); }
PQnoticeReceiver cpq_setNoticeReceiver(PGconn *connection, PQnoticeReceiver receiver, void *argument) {
    return pq.setNoticeReceiver(connection, receiver, argument);
}
int cpq_setnonblocking(PGconn *connection, int argument) { return pq.setnonblocking(connection, argument); }
int cpq_socket(const PGconn *connection) { return pq.socket(connection); }
char *cpq_errorMessage(const PGconn *connection) { return pq.errorMessage(connection); }
char *cpq_user(const PGconn *connection) { return pq.user(connection); }
char *cpq_pass(const PGconn *connection) { return pq.pass(connection); }
void cpq_finish(PGconn *connection) { pq.finish(connection); }
int cpq_sendQuery(PGconn *connection, const char *query) { return pq.sendQuery(connection, query); }
int cpq_consumeInput(PGconn *connection) { return pq.consumeInput(connection); }
int cpq_isBusy(PGconn *connection) { return pq.isBusy(connection); }
int cpq_flush(PGconn *connection) { return pq.flush(connection); }
int cpq_getCopyData(PGconn *connection, char **buffer, int async) { return pq.getCopyData(connection, buffer, async); }
int cpq_putCopyData(PGconn *connection, const char *buffer, int count) {
    return pq.putCopyData(connection, buffer, count);
}
void cpq_freemem(void *memory) { pq.freemem(memory); }
PGresult *cpq_getResult(PGconn *connection) { return pq.getResult(connection); }
ExecStatusType cpq_resultStatus(const PGresult *result) { return pq.resultStatus(result); }
char *cpq_resultErrorMessage(const PGresult *result) { return pq.resultErrorMessage(result); }
char *cpq_resultErrorField(const PGresult *result, int field) { return pq.resultErrorField(result, field); }
int cpq_ntuples(const PGresult *result) { return pq.ntuples(result); }
int cpq_nfields(const PGresult *result) { return pq.nfields(result); }
int cpq_getisnull(const PGresult *result, int row, int column) { return pq.getisnull(result, row, column); }
char *cpq_getvalue(const PGresult *result, int row, int column) { return pq.getvalue(result, row, column); }
void cpq_clear(PGresult *result) { pq.clear(result); }
