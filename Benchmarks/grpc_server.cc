// SPDX-License-Identifier: MIT
// A grpc++ server that answers every call with the same bytes, which it reads from a file: what gRPC itself costs.
//
//   c++ -O2 -std=c++17 Benchmarks/grpc_server.cc -o grpc_server $(pkg-config --cflags --libs grpc++)
//   ./grpc_server ADDRESS FILE [THREADS]
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

// One call at a time; the next one is requested as soon as this one has come.
class Call {
public:
    Call(grpc::AsyncGenericService* service, grpc::ServerCompletionQueue* queue, const grpc::ByteBuffer& answer)
        : service_(service), queue_(queue), answer_(answer), stream_(&context_) {
        service->RequestCall(&context_, &stream_, queue, queue, this);
    }

    void advance(bool ok) {
        if (!ok || step_ == 2) {
            delete this;
            return;
        }
        if (step_++ == 0) {
            new Call(service_, queue_, answer_);
            stream_.Read(&request_, this);
            return;
        }
        stream_.WriteAndFinish(answer_, grpc::WriteOptions(), grpc::Status::OK, this);
    }

private:
    grpc::AsyncGenericService* service_;
    grpc::ServerCompletionQueue* queue_;
    const grpc::ByteBuffer& answer_;
    grpc::GenericServerContext context_;
    grpc::GenericServerAsyncReaderWriter stream_;
    grpc::ByteBuffer request_;
    int step_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
    if (count < 3) {
        std::fprintf(stderr, "usage: grpc_server ADDRESS FILE [THREADS]\n");
        return 2;
    }
    std::ifstream file(arguments[2], std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    grpc::Slice slice(bytes);
    grpc::ByteBuffer answer(&slice, 1);
    int threads = count > 3 ? std::atoi(arguments[3]) : 2;

    grpc::AsyncGenericService service;
    grpc::ServerBuilder builder;
    builder.AddListeningPort(arguments[1], grpc::InsecureServerCredentials());
    builder.RegisterAsyncGenericService(&service);
    std::vector<std::unique_ptr<grpc::ServerCompletionQueue>> queues;
    for (int number = 0; number < threads; number++) queues.push_back(builder.AddCompletionQueue());
    auto server = builder.BuildAndStart();
    if (!server) return 1;
    std::vector<std::thread> running;
    for (auto& queue : queues) {
        for (int number = 0; number < 100; number++) new Call(&service, queue.get(), answer);
        running.emplace_back([&queue] {
            void* tag;
            bool ok;
            while (queue->Next(&tag, &ok)) static_cast<Call*>(tag)->advance(ok);
        });
    }
    for (auto& thread : running) thread.join();
}
